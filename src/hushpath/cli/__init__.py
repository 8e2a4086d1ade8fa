"""The command line: one file per verb; each parses, calls the library and prints.

Every error is one line on standard error: exit code 2 for bad input, 1 for what could not be done, 130 when
interrupted.  Nothing heavy is imported until a verb needs it, so that ``hushpath --help`` is quick.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, NoReturn

INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit.  A polite kill cleans up like Ctrl-C does."""
    signal.signal(signal.SIGTERM, _stop)
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    import typer

    from ..errors import HushpathError
    from .app import app

    try:
        code = app(args=arguments, prog_name="hushpath", standalone_mode=False)
        if code == INTERRUPTED:  # typer turns Ctrl-C into an exit code and returns it
            raise KeyboardInterrupt
        sys.stdout.flush()
    except HushpathError as error:
        return _fail(str(error), error.exit_code)
    except typer.TyperException as error:
        return _fail(f"{error.format_message()} (try --help)", 2)
    except (KeyboardInterrupt, typer.Abort):
        return _fail("interrupted; no half-written file is left", INTERRUPTED)
    except BrokenPipeError:  # the reader of a pipe went away, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError:
        return _fail("not enough memory for this request", 1)
    except Exception as error:
        # A bug of ours.  The message of an unforeseen exception could hold data, so only its type is shown.
        if os.environ.get("HUSHPATH_DEBUG"):
            raise
        return _fail(f"internal error ({type(error).__name__}); set HUSHPATH_DEBUG=1 to see where", 1)
    return code if isinstance(code, int) else 0


def _stop(number: int, frame: Any) -> NoReturn:  # noqa: ARG001 - what signal handlers are given
    raise KeyboardInterrupt


def _fail(message: str, code: int) -> int:
    print("hushpath: " + " ".join(message.split()), file=sys.stderr)
    return code
