"""Ed25519 keys in PEM files, and detached signatures: ``roads.hush.sig`` beside ``roads.hush``.

The digest inside a release finds damage, not malice: an attacker computes it again.  A signature says that the holder
of a key published exactly these bytes, not that the noise was drawn honestly.  Signed are a context string,
the SHA-256 of the whole file and its name: a signature means nothing elsewhere, and last month's file does not pass for
this month's once it is renamed.

Key and signature files are untrusted input.  A private key that other users can read, or own, is not used.
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
from typing import TYPE_CHECKING, Any, cast

from ..errors import CannotError, FileFormatError, InputError, OptionError
from .container import parse_strict_json, replacing

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


LARGEST_KEY = 2**14  # bytes; real ones have some hundred
PathLike = str | os.PathLike[str]


def make_keys(name: PathLike) -> tuple[Path, Path]:
    """Write a new key pair, NAME.key (readable by its owner only) and NAME.pub; never overwrite a file."""
    from cryptography.hazmat.primitives import serialization as s
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    if not os.path.basename(os.fspath(name)):
        raise OptionError(f"{os.fspath(name)!r} is not the name of a file; name the keys")
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


def read_private_key(path: PathLike) -> Ed25519PrivateKey:
    """Read a private key; it must be Ed25519 and readable by this user only."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    text, status = _read_file(path, LARGEST_KEY, OptionError)
    if b"PUBLIC KEY-----" in text:
        raise OptionError(f"{path} is a public key; pass the private one to sign")
    if b"ENCRYPTED" in text:
        raise OptionError(f"{path} is locked with a password; unlock a copy first: openssl pkey -in {path} -out COPY")
    key: Ed25519PrivateKey = _load_key(path, "private", Ed25519PrivateKey, lambda: load_pem_private_key(text, None))
    if status.st_uid != os.geteuid():
        raise OptionError(f"{path} belongs to another user (number {status.st_uid}); sign with a key of your own")
    if status.st_mode & 0o077:
        mode = stat.S_IMODE(status.st_mode)
        raise OptionError(f"{path} can be read or written by other users (mode {mode:04o}). Run: chmod 600 {path}")
    return key


def read_public_key(path: PathLike) -> Ed25519PublicKey:
    """Read a public key."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    text, _ = _read_file(path, LARGEST_KEY, OptionError)
    if b"PRIVATE KEY-----" in text:
        raise OptionError(f"{path} is a private key, which should stay secret; pass the public one to verify")
    return cast("Ed25519PublicKey", _load_key(path, "public", Ed25519PublicKey, lambda: load_pem_public_key(text)))


def _load_key(path: PathLike, name: str, kind: type, load: Callable[[], Any]) -> Any:
    """Return the key of this ``kind`` that ``load`` makes of the file at ``path``; messages call it ``name``."""
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        key = load()
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise OptionError(f"{path} is not a {name} key in PEM form; make keys with: hushpath keygen NAME") from None
    if not isinstance(key, kind):
        raise OptionError(f"{path} holds a key of another kind than Ed25519; make keys with: hushpath keygen NAME")
    return key


def fingerprint(key: Ed25519PublicKey) -> str:
    """Return the SHA-256 of a public key in DER form, in hexadecimal: what publishers print and readers compare."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return hashlib.sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()


def _read_file(path: PathLike, most: int, problem: type[InputError]) -> tuple[bytes, os.stat_result]:
    """Return the bytes of a small regular file and the status of that very file.

    Reading a pipe or a device could block forever.
    """
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


FORMAT = "hushpath-signature"
VERSION = 1
ALGORITHM = "Ed25519"
SUFFIX = ".sig"
# A context of fixed length, a digest of fixed length, and the rest is the name: one reading only.
CONTEXT = b"hushpath file signature, version 1\0"
LARGEST = 2**12  # bytes; a real one has some hundred


def signature_path(path: PathLike) -> Path:
    """Return the path of the signature of a file."""
    return Path(f"{os.fspath(path)}{SUFFIX}")


def write_signed(path: PathLike, key: PathLike, write: Callable[[Path], object]) -> None:
    """Let ``write`` make the file and sign it; both appear, or neither does.

    The signature is written first and removed if the file fails: an older file at this path is then unsigned.
    """
    private, beside = read_private_key(key), signature_path(path)
    if beside.is_dir():
        raise CannotError(f"cannot write {beside}: it is a folder")
    placed = False
    try:
        with replacing(path) as temporary:
            try:
                write(temporary)
            except CannotError as error:  # it knows the file by its temporary name
                raise CannotError(str(error).replace(str(temporary), str(path))) from None
            text = _make_signature(private, _hash_file(temporary), Path(path).name)
            with replacing(beside) as draft:
                draft.write_text(text, encoding="ascii")
            placed = True
    except BaseException:
        if placed:
            beside.unlink(missing_ok=True)
        raise


def verify_signature(path: PathLike, key: PathLike, *, renamed: bool = False) -> str:
    """Return the SHA-256 of a file whose signature is valid for this public key, else raise ``FileFormatError``.

    ``renamed`` allows another file name than the signed one, for callers who check what the file is about themselves.
    """
    from cryptography.exceptions import InvalidSignature

    public, beside = read_public_key(key), signature_path(path)
    if not os.path.lexists(beside):
        if not Path(path).is_file():
            raise FileFormatError(f"{path}: file not found")
        raise FileFormatError(f"{path} is not signed: {beside} does not exist")
    signer, name, signature = _parse_signature(beside)
    if signer != fingerprint(public):
        raise FileFormatError(f"{path} was signed with another key than {key} (its fingerprint begins {signer[:16]})")
    digest = _hash_file(path)
    try:
        public.verify(signature, _compose_message(digest, name))
    except InvalidSignature:
        raise FileFormatError(f"{beside} is not a signature of {path}: one of them was changed or exchanged") from None
    if not renamed and name != Path(path).name:
        raise FileFormatError(
            f"{path} was signed under the name {name!r:.300}: it may be another release than the one you ask for. "
            "Rename it back, or say which reporting period you expect (date, --date)"
        )
    return digest


def _make_signature(key: Ed25519PrivateKey, digest: str, name: str) -> str:
    fields = {
        "format": FORMAT, "version": VERSION, "algorithm": ALGORITHM, "key": fingerprint(key.public_key()),
        "name": name, "signature": base64.b64encode(key.sign(_compose_message(digest, name))).decode(),
    }  # fmt: skip
    return json.dumps(fields, indent=1) + "\n"


def _compose_message(digest: str, name: str) -> bytes:
    return CONTEXT + bytes.fromhex(digest) + name.encode("utf-8", "surrogateescape")


def _parse_signature(path: Path) -> tuple[str, str, bytes]:
    """Return fingerprint, file name and signature of a signature file; only the exact form is accepted."""
    broken = FileFormatError(f"{path} is damaged or not a hushpath signature")
    try:
        fields = parse_strict_json(_read_file(path, LARGEST, FileFormatError)[0].decode("ascii"))
    except ValueError:
        raise broken from None
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        raise broken
    version, algorithm, key, name, text = (
        fields.get(field) for field in ("version", "algorithm", "key", "name", "signature")
    )
    if type(version) is int and version > VERSION:
        raise FileFormatError(f"{path} was written by a newer version: upgrade hushpath")
    if type(version) is not int or version != VERSION or algorithm != ALGORITHM or len(fields) != 6:
        raise broken
    if not isinstance(key, str) or not re.fullmatch(r"[0-9a-f]{64}", key) or not isinstance(text, str):
        raise broken
    if not isinstance(name, str) or not 0 < len(name) <= 255 or name != os.path.basename(name):
        raise broken
    try:
        name.encode("utf-8", "surrogateescape")
        signature = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise broken from None
    if len(signature) != 64 or base64.b64encode(signature).decode() != text:
        raise broken
    return key, name, signature


def _hash_file(path: PathLike) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
