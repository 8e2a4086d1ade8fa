"""``hushpath inspect``: who is protected by a release file, what that is worth, and how it was made."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import common as c

# A file can prove its structure, not its honesty.
PROVED = "that its numbers fit its network, and that noise of the stated scales costs the stated epsilon and delta"
NOT_PROVED = (
    "that this noise was really drawn, from a secret source, and that the unit means what the publisher says; "
    "that rests on trust in who published it"
)


def command(
    release: Annotated[Path, typer.Argument(help="A release file.")],
    verify: c.Verify = None,
    dataset: c.ExpectedDataset = None,
    date: c.ExpectedDate = None,
    spec: Annotated[bool, typer.Option("--spec", help="Print the embedded specification alone, as TOML.")] = False,
    json: c.Json = False,
) -> None:
    """Say who is protected by a release, and what that is worth.  The certificate is proved again from the file."""
    from ..decoder.registry import decoders_for
    from ..errors import OptionError
    from ..estimator.registry import estimators_for
    from ..io.signing import fingerprint, read_public_key, signature_path
    from ..published.release import load

    c.check_inputs(release)
    rel = load(release, verify=verify, dataset=dataset, date=date)
    if spec and not rel.statement.specification:
        raise OptionError(f"{release} embeds no specification: it was made in Python")
    if spec and not json:
        c.print_marking(rel.statement)
        print(rel.statement.specification, end="")
        return
    beside, signer = signature_path(release), fingerprint(read_public_key(verify)) if verify else None
    strategy = rel.measurements.strategy
    unit = rel.statement.unit
    days = unit.as_dict().get("days")
    default, *others = decoders_for(strategy)
    usual = rel.decoder_choice.estimator if default.searches else None
    more = [one for one in estimators_for(strategy) if usual and one is not usual]
    if json:
        topology = rel.topology
        c.print_json({
            **c.privacy(rel.statement), "promise": rel.statement.promise.as_dict(),
            "nodes": topology.num_nodes, "edges": topology.num_edges, "directed": topology.directed,
            "fingerprint": rel.fingerprint, "proved": PROVED, "not_proved": NOT_PROVED,
            "signature": {"present": beside.is_file(), "verified": verify is not None, "key": signer,
                          "dataset": rel.statement.quantity.dataset, "date": rel.statement.quantity.date, "days": days},
            "decoders": [default.name, *(other.name for other in others)],
            "estimators": [usual.name, *(one.name for one in more)] if usual else [],
            "statement": rel.statement.as_dict(),
        })  # fmt: skip
        return
    print(rel.statement)
    if rel.statement.private:
        print(f"Proved from this file: {PROVED}.\nNot provable from any file: {NOT_PROVED}.")
    print(f"Network: {rel.topology!r}.")
    weights = f", with weights by estimator {usual.name} ({usual.summary})" if usual else ""
    print(f"Read by decoder {default.name} ({default.summary}){weights}.")
    if more:
        print(f"Other estimators: {'; '.join(f'{one.name} ({one.summary})' for one in more)}.")
    if rel.periods:
        print(f"Periods: {', '.join(rel.periods)}; ask about one with --period.")
    if others:
        print("Can also be read by: " + "; ".join(f"{other.name} ({other.summary})" for other in others) + ".")
    if rel.statement.specification:
        print("Specification: embedded, and it promises the same; print it with --spec.")
    print(f"Fingerprint of the release: {rel.fingerprint}")
    if signer:
        print(f"Signature: valid, made with the key of fingerprint {signer}.")
        covered = f"; days {days[0]} to {days[1]}" if days else ""
        print(
            f"Signed for: data set {rel.statement.quantity.dataset or 'not named'}; reporting period "
            f"{rel.statement.quantity.date or 'not stated'}{covered}."
        )
    elif beside.is_file():
        print(f"Signature: {beside} is there but was NOT CHECKED; use --verify with the publisher's public key.")
    else:
        print("Signature: none, so nothing proves who published it.")
