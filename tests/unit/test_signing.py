"""Signatures: what is signed, what verifies, and one clear line for everything that does not."""

import base64
import json
import os
import shutil
import stat
import subprocess

import pytest

import hushpath
from hushpath.cli import run
from hushpath.errors import CannotError, FileFormatError, HushpathError, OptionError
from hushpath.io import signing
from hushpath.io import signing as keys

NET = hushpath.Network.build(["a", "b", "c"], [0, 1], [1, 2], weights=[4.0, 6.0])


@pytest.fixture(scope="module")
def made():
    return hushpath.release(NET, epsilon=1.0, unit=1.0)


@pytest.fixture
def folder(tmp_path, monkeypatch, made):
    monkeypatch.chdir(tmp_path)
    keys.make_keys("me")
    keys.make_keys("other")
    made.save("roads.hush", sign="me.key")
    return tmp_path


def mark_of(path):
    return keys.fingerprint(keys.read_public_key(path))


def refused(match, **more):
    with pytest.raises(FileFormatError, match=match) as caught:
        hushpath.load("roads.hush", **({"verify": "me.pub"} | more))
    assert "\n" not in str(caught.value)


def test_signed_saved_verified_loaded(folder, made):
    assert hushpath.load("roads.hush", verify="me.pub").distance("a", "c") == made.distance("a", "c")
    assert sorted(os.listdir()) == ["me.key", "me.pub", "other.key", "other.pub", "roads.hush", "roads.hush.sig"]
    fields = json.loads((folder / "roads.hush.sig").read_text())
    assert (fields["format"], fields["version"], fields["algorithm"]) == ("hushpath-signature", 1, "Ed25519")
    assert fields["key"] == mark_of("me.pub")
    assert stat.S_IMODE(os.stat("me.key").st_mode) == 0o600


def test_the_message_is_the_context_the_digest_of_the_whole_file_and_its_name(folder):
    """Checked with the bare library, so that another program can verify too; the bare file is not what is signed."""
    import hashlib

    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    key = load_pem_public_key((folder / "me.pub").read_bytes())
    data = (folder / "roads.hush").read_bytes()
    signature = base64.b64decode(json.loads((folder / "roads.hush.sig").read_text())["signature"])
    context, digest = b"hushpath file signature, version 1\0", hashlib.sha256(data).digest()
    key.verify(signature, context + digest + b"roads.hush")
    for other in (data, digest, context + digest, context + digest + b"other.hush"):
        with pytest.raises(InvalidSignature):
            key.verify(signature, other)
    assert signing.verify_signature("roads.hush", "me.pub") == hashlib.sha256(data).hexdigest()


def test_every_changed_byte_is_noticed(folder):
    data = (folder / "roads.hush").read_bytes()
    for at in (*range(0, len(data), 37), len(data) - 1):
        (folder / "roads.hush").write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        refused("is not a signature of")
    (folder / "roads.hush").write_bytes(data + b"\0")
    refused("is not a signature of")


def test_the_verified_bytes_are_the_loaded_bytes(folder, monkeypatch):
    """A file that is exchanged between the two must not be loaded."""
    from hushpath.published import release as oracle

    def exchanged(path, *more, **options):
        hushpath.release(NET, epsilon=1.0, unit=1.0).save(path)
        return read(path, *more, **options)

    read = oracle.read_release
    monkeypatch.setattr(oracle, "read_release", exchanged)
    with pytest.raises(FileFormatError, match="replaced while"):
        hushpath.load("roads.hush", verify="me.pub")


def test_another_key_another_file_no_signature(folder, made):
    refused("signed with another key", verify="other.pub")
    hushpath.release(NET, epsilon=1.0, unit=1.0).save("roads.hush")  # the old signature stays and does not fit
    refused("is not a signature of")
    fields = json.loads((folder / "roads.hush.sig").read_text())
    made.save("roads.hush", sign="other.key")
    forged = json.loads((folder / "roads.hush.sig").read_text()) | {"key": fields["key"]}
    (folder / "roads.hush.sig").write_text(json.dumps(forged))  # claims the right key
    refused("is not a signature of")
    (folder / "roads.hush.sig").unlink()
    refused("is not signed")


@pytest.mark.parametrize(
    "change",
    [
        {"format": "x"}, {"format": None}, {"version": True}, {"version": 0}, {"version": 1.0}, {"version": "1"},
        {"algorithm": "none"}, {"algorithm": ["Ed25519"]}, {"key": 5}, {"key": "F" * 64}, {"key": "0" * 63},
        {"signature": ""}, {"signature": "A" * 86}, {"signature": "!" * 88}, {"signature": 7}, {"signature": None},
        {"signature": "A" * 88}, {"more": 1}, {"key": {"a": 1}}, {"signature": "A" * 85 + "B=="},
        {"signature": "é"}, {"version": 2}, {"version": 10**300}, {"name": None}, {"name": ""},
        {"name": "a/roads.hush"}, {"name": 7}, {"name": "x" * 256}, {"name": "\ud800"},
    ],
)  # fmt: skip
def test_signature_files_are_strict(folder, change):
    fields = json.loads((folder / "roads.hush.sig").read_text()) | change
    (folder / "roads.hush.sig").write_text(json.dumps(fields), encoding="utf-8")
    refused("not a hushpath signature|newer version")


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"null", b"1", b'"x"', b"{", b"\xff\xfe", b"[" * 4000, b"{}" * 3, b"1" * 4095, b"\0" * 50, b"NaN",
     b" " * 5000, b'{"format": "hushpath-signature", "format": "hushpath-signature"}', b'{"a":' * 700],
)  # fmt: skip
def test_signature_files_may_hold_anything(folder, data):
    (folder / "roads.hush.sig").write_bytes(data)
    refused("not a hushpath signature|too large")


def test_a_key_may_not_come_twice(folder):
    text = (folder / "roads.hush.sig").read_text()
    (folder / "roads.hush.sig").write_text(text.replace('"version"', '"version": 1, "version"', 1))
    refused("not a hushpath signature")


def test_signatures_that_are_no_ordinary_files(folder):
    (folder / "roads.hush.sig").unlink()
    os.mkfifo("roads.hush.sig")  # opening it for reading would wait for ever
    refused("not an ordinary file")
    os.unlink("roads.hush.sig")
    os.mkdir("roads.hush.sig")
    refused("ordinary file|cannot read")
    os.rmdir("roads.hush.sig")
    os.symlink("roads.hush.sig", "roads.hush.sig")
    refused("cannot read")


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_keys_of_openssl(folder, made):
    openssl("genpkey", "-algorithm", "ed25519", "-out", "o.key")
    openssl("pkey", "-in", "o.key", "-pubout", "-out", "o.pub")
    made.save("o.hush", sign="o.key")
    assert hushpath.load("o.hush", verify="o.pub").statement == made.statement
    openssl("pkey", "-in", "me.key", "-noout")  # and it reads ours
    openssl("pkey", "-pubin", "-in", "me.pub", "-noout")


def _pem(kind, password=None):
    from cryptography.hazmat.primitives import serialization as s
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    if kind == "rsa":
        key = rsa.generate_private_key(65537, 2048)
    else:
        key = ec.generate_private_key(ec.SECP256R1()) if kind == "ec" else ed25519.Ed25519PrivateKey.generate()
    lock = s.BestAvailableEncryption(password) if password else s.NoEncryption()
    return (
        key.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, lock),
        key.public_key().public_bytes(s.Encoding.PEM, s.PublicFormat.SubjectPublicKeyInfo),
    )


def test_keys_that_cannot_be_used(folder, made):
    for kind in ("rsa", "ec"):
        secret, public = _pem(kind)
        (folder / f"{kind}.key").write_bytes(secret)
        (folder / f"{kind}.pub").write_bytes(public)
    (folder / "locked.key").write_bytes(_pem("ed", b"secret")[0])
    (folder / "junk").write_bytes(b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
    (folder / "junk.pub").write_bytes(b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n")
    (folder / "large").write_bytes(b"x" * 10**6)
    (folder / "empty").write_bytes(b"")
    os.mkfifo("pipe")
    os.mkdir("dir")
    for key, says in [
        ("me.pub", "public key"), ("locked.key", "password"), ("rsa.key", "another kind"),
        ("ec.key", "another kind"), ("junk", "not a private key"), ("large", "too large"), ("empty", "not a private"),
        ("pipe", "ordinary file"), ("dir", "directory"), ("absent", "No such file"),
    ]:  # fmt: skip
        with pytest.raises(OptionError, match=says) as caught:
            made.save("new.hush", sign=key)
        assert caught.value.exit_code == 2
        assert not os.path.exists("new.hush")
        assert not os.path.exists("new.hush.sig")
    for key, says in [
        ("me.key", "private key, which should stay secret"), ("rsa.pub", "another kind"), ("ec.pub", "another kind"),
        ("junk.pub", "not a public key"), ("large", "too large"), ("empty", "not a public"), ("pipe", "ordinary file"),
        ("dir", "directory"), ("absent", "No such file"), ("roads.hush.sig", "not a public key"),
    ]:  # fmt: skip
        with pytest.raises(OptionError, match=says):
            hushpath.load("roads.hush", verify=key)


def test_nothing_is_left_when_the_signature_cannot_be_written(folder, made, monkeypatch):
    before = sorted(os.listdir())
    os.mkdir("new.hush.sig")
    with pytest.raises(CannotError, match="folder"):
        made.save("new.hush", sign="me.key")
    os.rmdir("new.hush.sig")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(signing.Path, "write_text", full)
        with pytest.raises(CannotError, match=r"new\.hush\.sig: No space left"):
            made.save("new.hush", sign="me.key")
    replace, done = os.replace, []

    def second_fails(source, target):  # the signature is in place, the release cannot follow
        done.append(target)
        if str(target).endswith("new.hush"):
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", second_fails)
    with pytest.raises(CannotError, match="No space left"):
        made.save("new.hush", sign="me.key")
    assert any(str(target).endswith(".sig") for target in done)
    assert sorted(os.listdir()) == before


def test_a_foreign_index_beside_a_verified_release_is_left_alone(folder, monkeypatch):
    """Nobody signed it, and its numbers would be served under the publisher's name; one made here is another matter."""
    hushpath.release(NET, epsilon=1.0, unit=1.0, mechanism="input").save("i.hush", sign="me.key", index=True)
    assert hushpath.load("i.hush", verify="me.pub").index is not None
    monkeypatch.setenv("HUSHPATH_CACHE", str(folder / "somebody else"))
    with pytest.warns(hushpath.HushpathWarning, match="was not made here"):
        assert hushpath.load("i.hush", verify="me.pub").index is None
    assert hushpath.load("i.hush", index=False).index is None


def test_keygen_never_overwrites(folder, capsys):
    secret = (folder / "me.key").read_bytes()
    assert run(["keygen", "me"]) == 2
    (folder / "half.pub").write_text("mine")
    assert run(["keygen", "half"]) == 2
    assert "never overwritten" in capsys.readouterr().err
    assert (folder / "me.key").read_bytes() == secret
    assert not os.path.exists("half.key")
    assert run(["keygen", "no/such/folder/x"]) == 1
    assert run(["keygen", "new", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fingerprint"] == mark_of("new.pub")


def test_keygen_leaves_no_half_pair(folder, monkeypatch):
    create = keys._create

    def full(path, data, mode):
        if path.suffix == ".pub":
            raise CannotError("full")
        create(path, data, mode)

    monkeypatch.setattr(keys, "_create", full)
    with pytest.raises(CannotError):
        keys.make_keys("new")
    assert not os.path.exists("new.key")


def test_on_the_command_line(folder, capsys):
    (folder / "roads.csv").write_text("source,target,weight\na,b,4\nb,c,6\n")
    release = ["release", "roads.csv", "-o", "signed.hush", "--epsilon", "1", "--unit", "1"]
    release += ["--mechanism", "input"]
    assert run([*release, "--sign", "me.pub"]) == 2
    assert not os.path.exists("signed.hush")
    assert run([*release, "--sign", "me.key"]) == 0
    capsys.readouterr()
    assert run(["inspect", "signed.hush"]) == 0
    assert "NOT CHECKED" in capsys.readouterr().out
    assert run(["inspect", "signed.hush", "--verify", "me.pub"]) == 0
    assert f"Signature: valid, made with the key of fingerprint {mark_of('me.pub')}." in (capsys.readouterr().out)
    assert run(["inspect", "signed.hush", "--verify", "me.pub", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["signature"]["verified"] is True
    questions = (["inspect"], ["query", "a", "c"], ["matrix", "-o", "m.csv"], ["index", "-o", "i.hushx"])
    for verb, *rest in questions:
        assert run([verb, "signed.hush", *rest, "--verify", "me.pub"]) == 0
        capsys.readouterr()
        assert run([verb, "signed.hush", *rest, "--verify", "other.pub"]) == 2
        out = capsys.readouterr()
        assert (out.out, out.err.count("\n"), "another key" in out.err) == ("", 1, True)
    os.unlink("signed.hush.sig")
    assert run(["inspect", "signed.hush"]) == 0
    assert "Signature: none" in capsys.readouterr().out


def test_no_untyped_error_from_random_signature_files(folder):
    """A few hundred edits of a real signature: refused, or (a change of white space) still valid."""
    import numpy as np

    rng = np.random.default_rng(0)
    data = (folder / "roads.hush.sig").read_bytes()
    refusals = 0
    for _ in range(300):
        edited = bytearray(data)
        for at in rng.integers(0, len(data), rng.integers(1, 4)):
            edited[at] = rng.integers(0, 256)
        (folder / "roads.hush.sig").write_bytes(bytes(edited))
        try:
            signing.verify_signature("roads.hush", "me.pub")
        except HushpathError:
            refusals += 1
    assert refusals > 250


# --- what a signed file is about


def months(folder, names=("2026-03", "2026-04")):
    """One data set, a signed file a month."""
    for month in names:
        made = hushpath.release(NET, epsilon=1.0, unit=1.0, quantity=hushpath.Quantity(date=month, dataset="city"))
        made.save(folder / f"city-{month}.hush", sign=folder / "me.key")


def renamed(old, new):
    for suffix in ("", ".sig"):
        os.replace(f"{old}{suffix}", f"{new}{suffix}")


def test_last_months_file_does_not_pass_for_this_months(folder):
    months(folder)
    os.unlink("city-2026-04.hush")
    renamed("city-2026-03.hush", "city-2026-04.hush")
    with pytest.raises(FileFormatError, match=r"city-2026-03\.hush"):
        hushpath.load("city-2026-04.hush", verify="me.pub")
    with pytest.raises(FileFormatError, match="2026-03"):
        hushpath.load("city-2026-04.hush", verify="me.pub", date="2026-04")
    edited = json.loads((folder / "city-2026-04.hush.sig").read_text()) | {"name": "city-2026-04.hush"}
    (folder / "city-2026-04.hush.sig").write_text(json.dumps(edited))
    for more in ({}, {"date": "2026-04"}, {"date": "2026-03"}):  # the name is signed, too
        with pytest.raises(FileFormatError):
            hushpath.load("city-2026-04.hush", verify="me.pub", **more)


def test_readers_demand_the_data_set_and_the_period(folder):
    months(folder)
    found = hushpath.load("city-2026-03.hush", verify="me.pub", dataset="city", date="2026-03").statement
    assert (found.quantity.dataset, found.quantity.date) == ("city", "2026-03")
    for wrong in ({"dataset": "town"}, {"date": "2026-04"}, {"date": ""}, {"dataset": "city", "date": "2026-3"}):
        with pytest.raises(FileFormatError):
            hushpath.load("city-2026-03.hush", verify="me.pub", **wrong)
    for unsigned in ({"dataset": "city"}, {"date": "2026-03"}):  # a file that nobody signed proves nothing
        with pytest.raises(OptionError, match="verify"):
            hushpath.load("city-2026-03.hush", **unsigned)
    renamed("city-2026-03.hush", "download.hush")  # who says which period is meant may use any name
    assert hushpath.load("download.hush", verify="me.pub", date="2026-03").statement == found
    with pytest.raises(FileFormatError):
        hushpath.load("download.hush", verify="me.pub", dataset="city")


def test_the_ledger_names_the_data(folder):
    from hushpath.privacy.ledger import Ledger

    Ledger.create("a.ledger", dataset="taxi", protects="declared", epsilon=3.0, delta=1e-6)
    assert hushpath.release(NET, epsilon=1.0, unit=1.0, ledger="a.ledger").statement.quantity.dataset == "taxi"
    assert hushpath.release(NET, epsilon=1.0, unit=1.0).statement.quantity.dataset == ""
    for wrong in (" city", "a\nb", "x" * 201, 7):
        with pytest.raises(OptionError):
            hushpath.release(NET, epsilon=1.0, unit=1.0, quantity=hushpath.Quantity(dataset=wrong))


def test_on_the_command_line_too(folder, capsys):
    months(folder)
    file, verify = "city-2026-03.hush", ["--verify", "me.pub"]
    assert run(["inspect", file, *verify]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("Signed for"))
    assert "city" in line
    assert "2026-03" in line
    assert run(["inspect", file, *verify, "--dataset", "city", "--date", "2026-03", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["signature"]
    assert (told["dataset"], told["date"], told["days"]) == ("city", "2026-03", None)
    export = ["export", "--to", "omx", "-o", "e.omx"]
    asked = (["inspect"], ["query", "a", "c"], ["matrix", "-o", "m.csv"], export)
    for verb, *rest in asked:
        for wrong in (["--date", "2026-04"], ["--dataset", "town"]):
            assert run([verb, file, *rest, *verify, *wrong]) == 2
            assert run([verb, file, *rest, *wrong]) == 2
        assert run([verb, file, *rest, *verify, "--date", "2026-03", "--dataset", "city"]) == 0


# --- private keys


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620, 0o602, 0o660])
def test_a_private_key_that_others_can_use_is_refused(folder, made, mode, capsys):
    os.chmod("me.key", mode)
    os.symlink("me.key", "link.key")
    for key in ("me.key", "link.key"):
        with pytest.raises(OptionError, match="chmod 600"):
            made.save("new.hush", sign=key)
    (folder / "roads.csv").write_text("source,target,weight\na,b,4\nb,c,6\n")
    assert run(["release", "roads.csv", "-o", "new.hush", "--epsilon", "1", "--unit", "1", "--sign", "me.key"]) == 2
    assert not os.path.exists("new.hush")
    os.chmod("me.key", 0o400)
    made.save("new.hush", sign="link.key")
    hushpath.load("new.hush", verify="me.pub")


def test_a_private_key_of_another_user_is_refused(folder, made, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: os.stat("me.key").st_uid + 1)
    with pytest.raises(OptionError, match="another user"):
        made.save("new.hush", sign="me.key")
    assert not os.path.exists("new.hush")


def test_new_keys_are_for_their_owner_whatever_the_mask(folder):
    before = os.umask(0)
    try:
        keys.make_keys("open")
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat("open.key").st_mode) == 0o600
