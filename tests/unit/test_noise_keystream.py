"""The keystream is AES-256-CTR over zeros, whatever the reading sizes, and secret keys are fresh."""

import copy
import pickle

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from hushpath.noise import vector as keystream
from hushpath.noise.vector import Keystream, derive_key

pytestmark = pytest.mark.noise(rate=1e-12)  # two streams agree in four words with probability 2**-256


def aes_of_zeros(key, words):
    """Counter mode spelt out: encrypt the counters 0, 1, ... as big-endian blocks under plain AES."""
    block = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    counters = b"".join(i.to_bytes(16, "big") for i in range((words + 1) // 2))
    return np.frombuffer(block.update(counters), dtype="<u8")[:words]


def test_the_words_are_aes_in_counter_mode_of_zeros():
    assert np.array_equal(Keystream(seed=5).read(10_001), aes_of_zeros(derive_key(5), 10_001))


def test_an_unseeded_stream_is_keyed_by_32_bytes_of_the_operating_system(monkeypatch):
    key = bytes(range(32))
    monkeypatch.setattr(keystream.os, "urandom", lambda count: key[:count])
    assert np.array_equal(Keystream().read(100), aes_of_zeros(key, 100))


def test_reading_sizes_do_not_matter():
    stream = Keystream(seed=1)
    parts = [stream.read(count) for count in (1, 0, 7, 1000, 3, 1)]
    assert np.array_equal(np.concatenate(parts), Keystream(seed=1).read(1012))


def test_seeds_name_keys():
    seeds = [0, 1, -1, 10**40]
    assert len({derive_key(seed) for seed in seeds}) == len(seeds)
    assert all(len(derive_key(seed)) == 32 for seed in seeds)


def test_only_an_unseeded_stream_is_secret():
    assert Keystream().secret
    assert not Keystream(seed=0).secret  # zero is a seed like any other


def test_two_secret_streams_differ():
    assert not np.array_equal(Keystream().read(4), Keystream().read(4))


@pytest.mark.parametrize("duplicate", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_stream_cannot_be_duplicated(duplicate):
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        duplicate(Keystream())


def test_a_negative_count_is_refused():
    with pytest.raises(ValueError, match="got -1"):
        Keystream().read(-1)
