"""What commands print: answers, errors and warnings, each in one form.

An error is one line ``hushpath: ...`` on standard error, a warning one line ``hushpath: warning: ...``.  With
``--json`` standard output holds exactly one JSON document, whether the command succeeded or not:

    {..., "warnings": ["..."]}
    {"error": {"type": "OptionError", "message": "...", "exit_code": 2}, "warnings": []}
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from ..errors import HushpathWarning, one_line

if TYPE_CHECKING:
    from ..published.statement import Statement

_warnings: list[str] = []  # of the command that is running


@contextmanager
def printed_warnings() -> Iterator[None]:
    """Print every HushpathWarning as a line while this context is open, and keep it for JSON."""
    _warnings.clear()
    with warnings.catch_warnings():
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if not issubclass(category, HushpathWarning):
                usual(message, category, *place, **more)
            elif (line := one_line(message)) not in _warnings:
                _warnings.append(line)
                print(f"hushpath: warning: {line}", file=sys.stderr)

        warnings.simplefilter("always", HushpathWarning)
        warnings.showwarning = show
        yield


class Answer(NamedTuple):
    """What a verb answers: a document with ``--json``, a text without."""

    document: dict[str, Any]
    text: str
    statement: Statement | None = None  # of the release in question: the document begins with whether it is private
    exit_code: int = 0


def print_answer(answer: Answer, *, as_json: bool) -> None:
    """Print an answer; NOT PRIVATE also on standard error, where it is seen even if the answer is redirected."""
    privacy = {}
    if answer.statement is not None:
        privacy = privacy_fields(answer.statement)
        print_marking(answer.statement)
    if as_json:
        print_json({**privacy, **answer.document})
    elif answer.text:
        print(answer.text)
    if answer.exit_code:
        raise typer.Exit(answer.exit_code)


def privacy_fields(statement: Statement) -> dict[str, Any]:
    """Return the first fields of a document about a release."""
    return {"private": statement.private, **({"marking": statement.marking} if statement.marking else {})}


def print_marking(statement: Statement) -> None:
    """Print NOT PRIVATE and why on standard error."""
    if statement.marking:
        typer.echo(statement.marking, err=True)


def mark(statement: Statement) -> str:
    """Return the words that end a text about a release that is not private."""
    from ..published.statement import NOT_PRIVATE

    return f" {NOT_PRIVATE}" if statement.marking else ""


def finite(value: float) -> float | str:
    """Return a number as JSON can represent it."""
    return "inf" if value == float("inf") else value


def print_json(data: dict[str, Any]) -> None:
    """Print the one JSON document; infinity is not JSON and must have been replaced."""
    print(json.dumps({**data, "warnings": _warnings}, indent=2, allow_nan=False, default=str))


def fail(message: object, code: int, kind: str, *, as_json: bool) -> int:
    """Print the ``message`` of an error of type ``kind``, with ``as_json`` also as JSON; return the exit ``code``."""
    line = one_line(message)
    with suppress(OSError):
        if as_json:
            print_json({"error": {"type": kind, "message": line, "exit_code": code}})
            sys.stdout.flush()
    with suppress(OSError):
        print(f"hushpath: {line}", file=sys.stderr)
    return code


def wants_json(arguments: list[str]) -> bool:
    """Return whether unparsed arguments ask for JSON."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options


def prepare_streams() -> None:
    """Make standard streams writable: a closed one discards text, and every name can be encoded."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - open as long as the process
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def flush_or_discard() -> None:
    """Flush standard output, or give it up."""
    try:
        sys.stdout.flush()
    except OSError:
        discard_output()


def discard_output() -> None:
    """Redirect standard output to nowhere, so that Python does not try to flush it when it exits."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
