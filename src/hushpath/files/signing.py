"""Who published a file: detached Ed25519 signatures, ``roads.hush.sig`` beside ``roads.hush``.

The digest inside a release finds damage, not malice: whoever changes the file computes it
again.  A signature says that the holder of a key published exactly these bytes.  It says nothing about whether the
noise was drawn honestly: that rests on trust in the publisher.

What is signed is a context string, the SHA-256 of the whole file, and the name of the file: a signature made here
means nothing elsewhere and one made elsewhere means nothing here, and last month's file does not pass for this month's
once it is renamed.  A signature file is hostile input.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import CannotError, FileFormatError, InputError
from .container import replacing, strict_json
from .keys import PathLike, fingerprint, private_key, public_key, small_file

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

FORMAT = "hushpath-signature"
VERSION = 1
ALGORITHM = "Ed25519"
SUFFIX = ".sig"
# A context of fixed length, a digest of fixed length, and the rest is the name: one reading only.
CONTEXT = b"hushpath file signature, version 1\0"
LARGEST = 2**12  # bytes; a real one has some hundred


def signature_path(path: PathLike) -> Path:
    """Where the signature of a file lies."""
    return Path(f"{os.fspath(path)}{SUFFIX}")


def write_signed(path: PathLike, key: PathLike, write: Callable[[Path], object]) -> None:
    """Let ``write`` make the file and sign it; both appear, or neither does.

    The signature goes first: should the file then not follow, it is taken back, and an older file at this path is
    left unsigned rather than with a signature that does not fit.
    """
    private, beside = private_key(key), signature_path(path)
    if beside.is_dir():
        raise CannotError(f"cannot write {beside}: it is a folder")
    placed = False
    try:
        with replacing(path) as temporary:
            try:
                write(temporary)
            except CannotError as error:  # it knows the file by its temporary name
                raise CannotError(str(error).replace(str(temporary), str(path))) from None
            text = _signature(private, _digest(temporary), Path(path).name)
            with replacing(beside) as draft:
                draft.write_text(text, encoding="ascii")
            placed = True
    except BaseException:
        if placed:
            beside.unlink(missing_ok=True)
        raise


def verified_digest(path: PathLike, key: PathLike, *, renamed: bool = False) -> str:
    """Return the SHA-256 of the file, in hexadecimal, if its signature is valid for this public key.

    ``renamed`` allows another name than the signed one, for callers who check what the file is about themselves.

    Raises:
        FileFormatError: if there is no signature, or it is not one, or it is of another file or by another key, or the
            file was signed under another name.
        InputError: if the key cannot be used.
    """
    from cryptography.exceptions import InvalidSignature

    public, beside = public_key(key), signature_path(path)
    if not os.path.lexists(beside):
        if not Path(path).is_file():
            raise FileFormatError(f"there is no file {path}")
        raise FileFormatError(f"{path} is not signed: there is no file {beside}")
    signer, name, signature = _parsed(beside)
    if signer != fingerprint(public):
        raise FileFormatError(f"{path} was signed with another key than {key} (its fingerprint begins {signer[:16]})")
    digest = _digest(path)
    try:
        public.verify(signature, _message(digest, name))
    except InvalidSignature:
        raise FileFormatError(f"{beside} is not a signature of {path}: one of them was changed or exchanged") from None
    if not renamed and name != Path(path).name:
        raise FileFormatError(
            f"{path} was signed under the name {name!r:.300}: it may be another release than the one you ask for. "
            "Rename it back, or say which reporting period you expect (date, --date)"
        )
    return digest


def _signature(key: Ed25519PrivateKey, digest: str, name: str) -> str:
    fields = {
        "format": FORMAT, "version": VERSION, "algorithm": ALGORITHM, "key": fingerprint(key.public_key()),
        "name": name, "signature": base64.b64encode(key.sign(_message(digest, name))).decode(),
    }  # fmt: skip
    return json.dumps(fields, indent=1) + "\n"


def _message(digest: str, name: str) -> bytes:
    return CONTEXT + bytes.fromhex(digest) + name.encode("utf-8", "surrogateescape")


def _parsed(path: Path) -> tuple[str, str, bytes]:
    """The fingerprint, the name and the signature in a signature file; anything but the exact form is refused."""
    broken = FileFormatError(f"{path} is damaged or not a hushpath signature")
    try:
        fields = strict_json(small_file(path, LARGEST, FileFormatError).decode("ascii"))
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


def _digest(path: PathLike) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
