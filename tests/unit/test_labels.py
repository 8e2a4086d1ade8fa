"""Labels: all integers or all text, or refused."""

import numpy as np
import pytest

from hushpath.errors import NetworkError
from hushpath.network.labels import MAX_LABEL_LENGTH, PlainLabels, clean_labels, is_canonical_integer, plain_labels


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([3, np.int32(1)], (3, 1)),
        (np.array([3, 1], np.uint8), (3, 1)),
        (["a", np.str_("b")], ("a", "b")),
        (["a", 1, np.int64(2)], ("a", "1", "2")),
        (np.array(["NA", "nan"]), ("NA", "nan")),
        (["a\0b", "a\0c"], ("a\0b", "a\0c")),
        ([-(2**63), 2**63 - 1], (-(2**63), 2**63 - 1)),
    ],
)
def test_labels_become_all_integers_or_all_text(labels, expected):
    cleaned = clean_labels(labels)
    assert cleaned == expected
    assert {type(label) for label in cleaned} == {type(expected[0])}


@pytest.mark.parametrize(
    ("labels", "match"),
    [
        ([], "no nodes"),
        ([1.0], "not float"),
        ([np.float64(1)], "not float64"),
        ([True, 2], "not bool"),
        ([np.True_], "not bool"),
        ([(0, 1)], "not tuple"),
        ([None], "not NoneType"),
        ([b"a"], "not bytes"),
        (["a", ""], "one has 0"),
        (["a" * (MAX_LABEL_LENGTH + 1)], f"one has {MAX_LABEL_LENGTH + 1}"),
        (["\ud800"], "not valid unicode"),
        ([2**63], "64 bits"),
        ([-(2**63) - 1], "64 bits"),
        ([10**5000, "a"], "64 bits"),
        (["a", "b", "a"], "two nodes have the label 'a'"),
        ([1, 2, 1], "two nodes have the label '1'"),
        ([1, "1"], "two nodes have the label '1'"),
        (["a\nb", "a\nb"], r"two nodes have the label 'a\\nb'"),
    ],
)
def test_labels_that_are_neither_empty_or_doubled_are_refused(labels, match):
    with pytest.raises(NetworkError, match=match):
        clean_labels(labels)


def test_a_label_of_the_longest_length_is_good():
    assert clean_labels(["a" * MAX_LABEL_LENGTH]) == ("a" * MAX_LABEL_LENGTH,)


def test_plain_labels_may_repeat():
    assert plain_labels(["a", 1, "a"]) == ("a", "1", "a")


@pytest.mark.parametrize("text", ["0", "7", "-3", str(2**63 - 1), str(-(2**63)), "1234567890123456789"])
def test_canonical_integers(text):
    assert is_canonical_integer(text)
    assert str(int(text)) == text


@pytest.mark.parametrize(
    "text",
    ["", "-", "-0", "00", "07", "+3", "1.0", "1e3", "1_0", " 1", "1\n", "٣", "0x1", str(2**63),
     str(-(2**63) - 1),
     "9" * 10_000],
)  # fmt: skip
def test_not_canonical_integers(text):
    assert not is_canonical_integer(text)


def test_labels_that_were_looked_at_are_not_looked_at_again_but_may_not_be_doubled():
    names = PlainLabels(dict.fromkeys(plain_labels(["b", "a", "b"])))
    assert clean_labels(names) is names == ("b", "a")
    with pytest.raises(NetworkError, match="two nodes have the label 'b'"):
        clean_labels(plain_labels(["b", "a", "b"]))
    with pytest.raises(NetworkError, match="no nodes"):
        clean_labels(PlainLabels())
