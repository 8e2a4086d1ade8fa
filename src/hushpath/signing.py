"""Who published a file: detached Ed25519 signatures, ``roads.hush.sig`` beside ``roads.hush``.

Stage 5 of 6.  The digest inside a release finds damage, not malice: whoever changes the file computes it
again.  A signature says that the holder of a key published exactly these bytes.  It says nothing about whether the
noise was drawn honestly: that rests on trust in the publisher.

What is signed is a context string and the SHA-256 of the whole file, so that a signature made here means nothing
elsewhere and one made elsewhere means nothing here.  Keys are PEM files (PKCS8 and SubjectPublicKeyInfo), as
``openssl genpkey -algorithm ed25519`` and ``openssl pkey -pubout`` write them.  Both files are hostile input.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import json
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import CannotError, FileFormatError, InputError, OptionError
from .fileformat import replacing

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

FORMAT = "hushpath-signature"
VERSION = 1
ALGORITHM = "Ed25519"
SUFFIX = ".sig"
CONTEXT = b"hushpath file signature, version 1\0"  # fixed length before a digest of fixed length: one reading only
LARGEST_KEY, LARGEST_SIGNATURE = 2**14, 2**12  # bytes; real ones have some hundred
PathLike = str | os.PathLike[str]


def signature_path(path: PathLike) -> Path:
    """Where the signature of a file lies."""
    return Path(f"{os.fspath(path)}{SUFFIX}")


def make_keys(name: PathLike) -> tuple[Path, Path]:
    """Write a new pair of keys, NAME.key (for its owner's eyes only) and NAME.pub; never over an existing file."""
    from cryptography.hazmat.primitives import serialization as s
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    if not os.path.basename(os.fspath(name)):
        raise OptionError(f"{os.fspath(name)!r} names no file; give the keys a name")
    private, public = Path(f"{os.fspath(name)}.key"), Path(f"{os.fspath(name)}.pub")
    for path in (private, public):
        if os.path.lexists(path):
            raise OptionError(f"{path} exists; a key is never overwritten, so choose another name")
    key = Ed25519PrivateKey.generate()  # from the operating system, inside the library
    secret = key.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption())
    shown = key.public_key().public_bytes(s.Encoding.PEM, s.PublicFormat.SubjectPublicKeyInfo)
    _create(private, secret, 0o600)
    try:
        _create(public, shown, 0o644)
    except BaseException:
        private.unlink()
        raise
    return private, public


def check_signing_key(key: PathLike) -> None:
    """Refuse what cannot sign, before any work is done."""
    _private_key(key)


def write_signed(path: PathLike, key: PathLike, write: Callable[[Path], object]) -> None:
    """Let ``write`` make the file and sign it; both appear, or neither does.

    The signature goes first: should the file then not follow, it is taken back, and an older file at this path is
    left unsigned rather than with a signature that does not fit.
    """
    private, beside = _private_key(key), signature_path(path)
    if beside.is_dir():
        raise CannotError(f"cannot write {beside}: it is a folder")
    placed = False
    try:
        with replacing(path) as temporary:
            write(temporary)
            text = _signature(private, _digest(temporary))
            with replacing(beside) as draft:
                draft.write_text(text, encoding="ascii")
            placed = True
    except BaseException:
        if placed:
            beside.unlink(missing_ok=True)
        raise


def fingerprint(key: PathLike) -> str:
    """SHA-256 of a public key, in hexadecimal: what publishers print and readers compare."""
    return _fingerprint(_public_key(key))


def verified_digest(path: PathLike, key: PathLike) -> str:
    """Return the SHA-256 of the file, in hexadecimal, if its signature is valid for this public key.

    Raises:
        FileFormatError: if there is no signature, or it is not one, or it is of another file or by another key.
        InputError: if the key cannot be used.
    """
    from cryptography.exceptions import InvalidSignature

    public, beside = _public_key(key), signature_path(path)
    if not os.path.lexists(beside):
        if not Path(path).is_file():
            raise FileFormatError(f"there is no file {path}")
        raise FileFormatError(f"{path} is not signed: there is no file {beside}")
    signer, signature = _parsed(beside)
    if signer != _fingerprint(public):
        raise FileFormatError(f"{path} was signed with another key than {key} (its fingerprint begins {signer[:16]})")
    digest = _digest(path)
    try:
        public.verify(signature, CONTEXT + bytes.fromhex(digest))
    except InvalidSignature:
        raise FileFormatError(f"{beside} is not a signature of {path}: one of them was changed or exchanged") from None
    return digest


def _signature(key: Ed25519PrivateKey, digest: str) -> str:
    fields = {
        "format": FORMAT, "version": VERSION, "algorithm": ALGORITHM, "key": _fingerprint(key.public_key()),
        "signature": base64.b64encode(key.sign(CONTEXT + bytes.fromhex(digest))).decode(),
    }  # fmt: skip
    return json.dumps(fields, indent=1) + "\n"


def _parsed(path: Path) -> tuple[str, bytes]:
    """The fingerprint and the signature in a signature file; anything but the exact form is refused."""
    broken = FileFormatError(f"{path} is damaged or not a hushpath signature")
    try:
        fields = json.loads(_bytes(path, LARGEST_SIGNATURE, FileFormatError).decode("ascii"), object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise broken from None
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        raise broken
    version, algorithm, key, text = (fields.get(name) for name in ("version", "algorithm", "key", "signature"))
    if type(version) is int and version > VERSION:
        raise FileFormatError(f"{path} was written by a newer version: upgrade hushpath")
    if type(version) is not int or version != VERSION or algorithm != ALGORITHM or len(fields) != 5:
        raise broken
    if not isinstance(key, str) or not re.fullmatch(r"[0-9a-f]{64}", key) or not isinstance(text, str):
        raise broken
    try:
        signature = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise broken from None
    if len(signature) != 64 or base64.b64encode(signature).decode() != text:
        raise broken
    return key, signature


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object in which no key comes twice, so that no two readers can see different things."""
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key comes twice")
    return dict(pairs)


def _private_key(path: PathLike) -> Ed25519PrivateKey:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    text = _bytes(path, LARGEST_KEY, OptionError)
    if b"PUBLIC KEY-----" in text:
        raise OptionError(f"{path} is a public key; signing takes the private one")
    if b"ENCRYPTED" in text:
        raise OptionError(f"{path} is locked with a password; unlock a copy first: openssl pkey -in {path} -out COPY")
    try:
        key = load_pem_private_key(text, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise OptionError(f"{path} is not a private key in PEM form; make one with: hushpath keygen NAME") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise OptionError(f"{path} holds a key of another kind than Ed25519; make one with: hushpath keygen NAME")
    return key


def _public_key(path: PathLike) -> Ed25519PublicKey:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    text = _bytes(path, LARGEST_KEY, OptionError)
    if b"PRIVATE KEY-----" in text:
        raise OptionError(f"{path} is a private key, which should stay secret; verifying takes the public one")
    try:
        key = load_pem_public_key(text)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise OptionError(f"{path} is not a public key in PEM form") from None
    if not isinstance(key, Ed25519PublicKey):
        raise OptionError(f"{path} holds a key of another kind than Ed25519")
    return key


def _fingerprint(key: Ed25519PublicKey) -> str:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return hashlib.sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()


def _digest(path: PathLike) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None


def _bytes(path: PathLike, most: int, problem: type[InputError]) -> bytes:
    """The bytes of a small regular file; a pipe or a device could hang or never end."""
    try:
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise problem(f"{path} is not an ordinary file")
            data = file.read(most + 1)
    except OSError as error:
        raise problem(f"cannot read {path}: {error.strerror or error}") from None
    if len(data) > most:
        raise problem(f"{path} is too large to be a key or a signature")
    return data


def _create(path: Path, data: bytes, mode: int) -> None:
    """Write a file that does not exist yet, whole or not at all."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except OSError as error:
        raise CannotError(f"cannot write {path}: {error.strerror or error}") from None
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException as error:
        with contextlib.suppress(OSError):
            path.unlink()
        if isinstance(error, OSError):
            raise CannotError(f"cannot write {path}: {error.strerror or error}") from None
        raise
