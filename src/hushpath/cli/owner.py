"""Other verbs: evaluate, report and keygen for the data owner, demo, and lab."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from . import options as o
from .files import check_inputs, check_output, public_files, spec_files
from .messages import Answer, print_marking, privacy_fields

TruthOptions = Annotated[o.Changes, o.SpecOptions(*o.READ, *o.PRIVATE_WEIGHTS)]


def evaluate(given: o.Given, opened: o.DecodedRelease, changes: TruthOptions, sources: o.Sources = 64) -> Answer:
    """Compare a release with the truth.  NOT PRIVATE: keep the output to yourself."""
    from ..releasing.evaluate import evaluate as compare

    rel = opened.load()
    spec = o.spec_of_release(given, changes, rel)
    check_inputs(*public_files(spec))
    with o.named_by_flags(given):
        result = compare(spec.read(), rel, sources=sources)
    return Answer(result.as_dict(), str(result))


def report(
    given: o.Given,
    opened: o.SignedRelease,
    out: Annotated[Path, Option("-o", "--out", help="The page to write, e.g. report.html.")],
    changes: TruthOptions,
    title: Annotated[str | None, Option(help="Title of the page.")] = None,
    public: Annotated[bool, Option("--public", help="Only what may be published; no truth is read.")] = False,
    sources: o.Sources = 64,
) -> Answer:
    """Write a report of a release.  NOT PRIVATE (mode 0600) but for sections that say otherwise, unless --public."""
    from ..output.report.html import ReportTexts
    from ..output.report.pictures import needs_matplotlib
    from ..output.report.release import write_report
    from ..published.statement import NOT_PRIVATE, OWNER_ONLY
    from ..releasing.evaluate import Evaluation

    check_inputs(given)
    rel = opened.load()
    spec = None if public else o.spec_of_release(given, changes, rel)
    check_output(out, given, opened.release, opened.verify, *(spec_files(spec) if spec else []))
    if spec is not None:
        needs_matplotlib()
    with o.named_by_flags(given):
        comparison = None if spec is None else spec.compare(rel, sources=sources)
    texts = ReportTexts.of(rel)
    write_report(out, rel, None, comparison, title=title or texts.title, texts=texts)
    print_marking(rel.statement)
    marking = rel.statement.marking if public else OWNER_ONLY
    document = {
        "publishable": public and rel.statement.private, **({"marking": marking} if marking else {}),
        "file": str(out), "public": public, "release": privacy_fields(rel.statement),
        "evaluation": {} if comparison is None else Evaluation.of(comparison).as_dict(),
    }  # fmt: skip
    if public:
        return Answer(document, f"Written to {out}: {'may be published' if rel.statement.private else NOT_PRIVATE}.")
    text = f"Written to {out}. {NOT_PRIVATE}: it compares the release with the truth; keep it to yourself."
    return Answer(document, text)


def keygen(
    name: Annotated[str, Argument(help="Writes NAME.key (keep it secret) and NAME.pub (give it to readers).")],
) -> Answer:
    """Make an Ed25519 key pair for `release --sign` and `inspect --verify`."""
    from ..io.signing import fingerprint, make_keys, read_public_key

    private, public = make_keys(name)
    digest = fingerprint(read_public_key(public))
    document = {"secret_key": str(private), "public_key": str(public), "fingerprint": digest}
    return Answer(document, f"Secret key: {private}\nPublic key: {public}\nFingerprint: {digest}")


def demo(
    out: Annotated[Path, Option(help="Folder for the report and the files.")] = Path("hushpath-demo"),
    json: o.Json = False,
) -> Answer:
    """Plan, release, query and evaluate a generated city, ending with a report to look at."""
    from ..demo.story import run_demo

    return Answer(run_demo(out, say=lambda line: None if json else print(line)), "")


def lab(
    quick: Annotated[bool, Option("--quick", help="A small run: minutes on two cores.")] = False,
    out: Annotated[Path, Option(help="Folder for tables (CSV), pictures (PNG) and the report.")] = Path("hushpath-lab"),
    seed: Annotated[int, Option(help="The same seed gives the same table, apart from times.")] = 0,
    mechanism: Annotated[list[str] | None, Option(help="Only this one; may be repeated.")] = None,
    estimator: Annotated[list[str] | None, Option(help="Only this one; may be repeated.")] = None,
    kind: Annotated[list[str] | None, Option("--class", help="Only this class of networks; repeatable.")] = None,
    network: Annotated[list[Path] | None, Option(help="Also this edge list; repeatable.")] = None,
    weight: Annotated[str, Option(help="Column of the weights in --network.")] = "weight",
    jobs: Annotated[int, Option(min=1, max=64, help="Worker processes.")] = 2,
    dask: Annotated[str | None, Option(help="Measure on this Dask cluster (address, or local).")] = None,
    json: o.Json = False,
) -> Answer:
    """Measure every mechanism with the same privacy on the same networks.  NOT PRIVATE.

    A run that was stopped continues where it was; delete the folder to start afresh.
    """
    from ..lab.cases import FULL, QUICK
    from ..lab.study import Study, run_study

    check_inputs(*(network or []))
    given = [f"--mechanism {name}" for name in mechanism or []] + [f"--class {name}" for name in kind or []]
    given += [f"--estimator {name}" for name in estimator or []]
    given += [f"--network {path.name} --weight {weight}" for path in network or []]
    study = Study(
        out=out, scope=QUICK if quick else FULL, seed=seed, mechanisms=mechanism or (), classes=kind or (),
        estimators=estimator or (), networks=network or (), weight=weight, jobs=jobs, dask=dask,
        command=" ".join(["hushpath lab", *(["--quick"] if quick else []), f"--seed {seed}", *given]),
    )  # fmt: skip
    return Answer(run_study(study, say=lambda line: None if json else print(line)), "")
