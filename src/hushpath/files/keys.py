"""Keys to sign with: Ed25519 in PEM files, PKCS8 for the private half and SubjectPublicKeyInfo for the public one.

Used by ``signing``.  ``openssl genpkey -algorithm ed25519`` and ``openssl pkey -pubout`` write the same.
A key file is hostile input: it may be large, a pipe, of another kind, or the wrong half.  A private key that other
users can read, or that another user owns, is not used: it may not be secret any more.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import CannotError, InputError, OptionError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

LARGEST = 2**14  # bytes; real ones have some hundred
PathLike = str | os.PathLike[str]


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


def private_key(path: PathLike) -> Ed25519PrivateKey:
    """Read the half that signs.

    Raises:
        OptionError: if the file is no private Ed25519 key, or not for the eyes of this user only.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    text, status = _read(path, LARGEST, OptionError)
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
    if status.st_uid != os.geteuid():
        raise OptionError(f"{path} belongs to another user (number {status.st_uid}); sign with a key of your own")
    if status.st_mode & 0o077:
        mode = stat.S_IMODE(status.st_mode)
        raise OptionError(f"{path} can be read or written by other users (mode {mode:04o}). Run: chmod 600 {path}")
    return key


def public_key(path: PathLike) -> Ed25519PublicKey:
    """Read the half that verifies."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    text = small_file(path, LARGEST, OptionError)
    if b"PRIVATE KEY-----" in text:
        raise OptionError(f"{path} is a private key, which should stay secret; verifying takes the public one")
    try:
        key = load_pem_public_key(text)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise OptionError(f"{path} is not a public key in PEM form") from None
    if not isinstance(key, Ed25519PublicKey):
        raise OptionError(f"{path} holds a key of another kind than Ed25519")
    return key


def fingerprint(key: Ed25519PublicKey) -> str:
    """SHA-256 of a public key in DER form, in hexadecimal: what publishers print and readers compare."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return hashlib.sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()


def small_file(path: PathLike, most: int, problem: type[InputError]) -> bytes:
    """The bytes of a small regular file; a pipe or a device could hang or never end."""
    return _read(path, most, problem)[0]


def _read(path: PathLike, most: int, problem: type[InputError]) -> tuple[bytes, os.stat_result]:
    """The bytes of a small regular file, and the status of that very file, whatever links lead to it."""
    try:
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise problem(f"{path} is not an ordinary file")
            data = file.read(most + 1)
    except OSError as error:
        raise problem(f"cannot read {path}: {error.strerror or error}") from None
    if len(data) > most:
        raise problem(f"{path} is too large to be a key or a signature")
    return data, status


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
