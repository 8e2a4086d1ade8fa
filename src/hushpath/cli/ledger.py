"""``hushpath ledger``: create a ledger of spent budgets, show it, check it against release files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from ..errors import HushpathError, OptionError, one_line
from .files import check_inputs
from .messages import Answer, finite

if TYPE_CHECKING:
    from ..days import DateRange
    from ..privacy.ledger import Charge, Dataset, Ledger

File = Annotated[Path, Argument(metavar="FILE", help="The ledger file, e.g. city.ledger.")]


def init(
    file: File,
    dataset: Annotated[str, Option(help="Name of the data.")],
    protects: Annotated[str, Option(help="person, person-day, trip or declared.")],
    epsilon: Annotated[float, Option(help="Total budget of all releases.")],
    delta: Annotated[float, Option(help="Probability of a larger loss; 0 for pure DP.")] = 0.0,
    add: Annotated[bool, Option("--add", help="Add a data set to an existing ledger.")] = False,
) -> Answer:
    """Make a ledger with one data set and its total budget, which cannot be changed later."""
    from ..privacy.ledger import Ledger

    check_inputs(file)
    if add:
        ledger = Ledger.open(file)
        ledger.add_dataset(dataset, protects=protects, epsilon=epsilon, delta=delta)
    else:
        ledger = Ledger.create(file, dataset=dataset, protects=protects, epsilon=epsilon, delta=delta)
    (made,) = (one for one in ledger.datasets() if one.name == dataset)
    return Answer({"file": str(file), **_dataset_document(made)}, f"{file}: {_format_budget(made)}.")


def show(
    file: File,
    dataset: Annotated[str | None, Option(help="This data set only.")] = None,
    days: Annotated[str | None, Option(help="These days only: 2024-03-01 or 2024-03-01..2024-03-07.")] = None,
) -> Answer:
    """Show what may be spent, what was spent on the days that cost most, what remains, and every charge."""
    from ..days import check_dates, parse_days
    from ..privacy.ledger import Ledger

    check_inputs(file)
    ledger, wanted = Ledger.open(file), check_dates(parse_days(days, "--days"), "--days")
    found = [one for one in ledger.datasets() if dataset in (None, one.name)]
    if not found:
        raise OptionError(f"{file} has no data set {str(dataset)[:60]!r}")
    document = {"file": str(file), "datasets": [_charges_document(ledger, one, wanted) for one in found]}
    return Answer(document, "\n\n".join(_format_dataset(ledger, one, wanted) for one in found))


def check(
    file: File,
    releases: Annotated[list[Path] | None, Argument(metavar="[RELEASE.hush]...", help="Release files.")] = None,
) -> Answer:
    """Prove the ledger, add up again, and look up release files; exit code 1 if something is wrong."""
    from ..privacy.ledger import Ledger

    check_inputs(file, *(releases or ()))
    ledger = Ledger.open(file)
    charges = ledger.charges()
    wrong: list[str] = []
    fine: list[str] = []
    for one in ledger.datasets():
        spent = ledger.spent(one.name).epsilon
        (fine if spent <= one.budget.epsilon else wrong).append(
            f"{one.name}: epsilon {spent:.6g} spent of {one.budget.epsilon:g}"
        )
    for release in releases or ():
        problem = _release_problem(release, charges)
        (wrong if problem else fine).append(f"{release}: {problem or 'charged, and within its charge'}")
    waiting = [one.number for one in charges if one.state == "charged"]
    lines = [f"{file} is a sound ledger with {len(charges)} charges."]
    if waiting:
        lines.append(f"Charges without a file, which count: {', '.join(map(str, waiting))}.")
    lines += [one_line(f"ok: {text}") for text in fine] + [one_line(f"WRONG: {text}") for text in wrong]
    document = {"file": str(file), "ok": not wrong, "wrong": wrong, "fine": fine, "charged_only": waiting}
    return Answer(document, "\n".join(lines), exit_code=1 if wrong else 0)


def _release_problem(path: Path, charges: list[Charge]) -> str:
    """Return what is wrong with one release file, or an empty text."""
    from ..days import format_days
    from ..privacy.units import Protects
    from ..published.release import load
    from ..releasing.release import spending_of

    try:
        release = load(path)
    except HushpathError as error:
        return str(error)
    charge = next((one for one in charges if one.fingerprint == release.fingerprint), None)
    if not release.statement.private:
        return str(release.statement.marking)
    if charge is None:
        same = [str(one.number) for one in charges if one.fingerprint is None and Path(one.file).name == path.name]
        hint = f"; charge {', '.join(same)} has a file of this name, without a fingerprint" if same else ""
        return f"no charge names this file{hint}"
    spending, days = spending_of(release.measurements.strategy)
    if spending.protects is Protects.DECLARED:  # only the owner knows what the unit of weights means, and their days
        spending, days = replace(spending, protects=charge.asked.protects), charge.days
    if not spending.is_paid_by(charge.asked):
        return f"it spends {spending}, and charge {charge.number} is {charge.asked}"
    if charge.days is not None and (days is None or not charge.days[0] <= days[0] <= days[1] <= charge.days[1]):
        return f"it covers {format_days(days)}, and charge {charge.number} only {format_days(charge.days)}"
    return ""


def _format_dataset(ledger: Ledger, one: Dataset, days: DateRange | None) -> str:
    """Return one data set as text."""
    from ..days import format_days
    from ..published.quantity import format_table

    spent, left = ledger.spent(one.name, days), ledger.remaining(one.name, days)
    when = f", {format_days(days)}" if days else ", on the day that cost most" if one.protects.within_a_day else ""
    gaussian = f", or {left.gaussian_epsilon:.6g} with Gaussian noise at delta {left.delta:g}"
    gaussian = gaussian if one.budget.delta else ""
    rows = [("no", "days", "noise", "protects", "epsilon", "delta", "state", "file")]
    rows += [
        (str(charge.number), format_days(charge.days), str(charge.asked.law), str(charge.asked.protects),
         f"{charge.asked.epsilon:.6g}", f"{charge.asked.delta:g}",
         "released" if charge.fingerprint else "charged; no file recorded", one_line(charge.file))
        for charge in ledger.charges(one.name)
    ]  # fmt: skip
    return "\n".join([
        f"{_format_budget(one)}.",
        f"Spent{when}: epsilon {spent.epsilon:.6g}{f' at delta {spent.delta:g}' if spent.delta else ''}.",
        f"Remaining for one release of {format_days(days)}: epsilon {left.epsilon:.6g}{gaussian}.",
        *(format_table(rows) if len(rows) > 1 else ["No charges."]),
    ])  # fmt: skip


def _format_budget(one: Dataset) -> str:
    budget = one.budget
    return f"Data set {one.name}: epsilon {budget.epsilon:g}, delta {budget.delta:g} in total for each {one.protects}"


def _charges_document(ledger: Ledger, one: Dataset, days: DateRange | None) -> dict[str, Any]:
    """Return one data set for JSON."""
    left, spent = ledger.remaining(one.name, days), ledger.spent(one.name, days)
    return {
        **_dataset_document(one), "spent": {"epsilon": finite(spent.epsilon), "delta": spent.delta},
        "remaining": {"epsilon": left.epsilon, "gaussian_epsilon": left.gaussian_epsilon, "delta": left.delta},
        "charges": [_charge(charge) for charge in ledger.charges(one.name)],
    }  # fmt: skip


def _dataset_document(one: Dataset) -> dict[str, Any]:
    budget = {"epsilon": one.budget.epsilon, "delta": one.budget.delta}
    return {"dataset": one.name, "protects": str(one.protects), "budget": budget, "made": one.made}


def _charge(charge: Charge) -> dict[str, Any]:
    asked, days = charge.asked, charge.days
    return {
        "number": charge.number, "days": days and [day.isoformat() for day in days], "protects": str(asked.protects),
        "law": str(asked.law), "spent": asked.spent, "epsilon": asked.epsilon, "delta": asked.delta, "at": charge.at,
        "version": charge.version, "file": charge.file, "state": charge.state, "fingerprint": charge.fingerprint,
    }  # fmt: skip
