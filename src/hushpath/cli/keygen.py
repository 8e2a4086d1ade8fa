"""``hushpath keygen``: a pair of keys to sign releases with."""

from __future__ import annotations

from typing import Annotated

import typer

from . import common as c


def command(
    name: Annotated[str, typer.Argument(help="Writes NAME.key (keep it secret) and NAME.pub (give it to readers).")],
    json: c.Json = False,
) -> None:
    """Make an Ed25519 key pair for `release --sign` and `inspect --verify`."""
    from ..io.signing import fingerprint, make_keys, read_public_key

    private, public = make_keys(name)
    mark = fingerprint(read_public_key(public))
    if json:
        c.print_json({"secret_key": str(private), "public_key": str(public), "fingerprint": mark})
    else:
        print(f"Secret key: {private}\nPublic key: {public}\nFingerprint: {mark}")
