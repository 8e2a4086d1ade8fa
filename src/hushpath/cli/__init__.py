"""The command line: one file per verb; each parses, calls the library and prints.

Every error is one line on standard error, and with ``--json`` also a document on standard output (``messages``).  Exit
code 2 for bad input, 1 for what could not be done, 130 when interrupted.  Heavy modules are imported by the verbs that
need them, so that ``hushpath --help`` is quick.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, NoReturn

from . import messages

INTERRUPTED = 130
STOPPED = "interrupted; no half-written file is left"


def main() -> None:
    """Run the command line and exit.  A kill or a closed terminal cleans up as Ctrl-C does."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores SIGHUP
            signal.signal(number, _stop)
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while the program itself was still being loaded
        code = messages.fail(STOPPED, INTERRUPTED, "Interrupted", as_json=False)
    if code == INTERRUPTED:  # Python would end itself by SIGINT if the interrupt met an exec(), as imports use it
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    import typer

    from ..errors import HushpathError
    from .app import app_for

    as_json = messages.wants_json(arguments)

    def fail(message: object, code: int, kind: str) -> int:
        return messages.fail(message, code, kind, as_json=as_json)

    messages.prepare_streams()
    with messages.printed_warnings():
        try:
            code = app_for(arguments)(args=arguments, prog_name="hushpath", standalone_mode=False)
            if code == INTERRUPTED:  # typer turns Ctrl-C into an exit code and returns it
                raise KeyboardInterrupt
            sys.stdout.flush()
        except HushpathError as error:
            return fail(error, error.exit_code, type(error).__name__)
        except typer.TyperException as error:
            return fail(f"{error.format_message()} (try --help)", 2, "UsageError")
        except (KeyboardInterrupt, typer.Abort):
            return fail(STOPPED, INTERRUPTED, "Interrupted")
        except BrokenPipeError:  # the reader of a pipe has closed it, as `| head` does
            messages.discard_output()
            return 0
        except OSError as error:  # the reason and a file name, never data
            messages.flush_or_discard()
            return fail(f"{error.filename or 'cannot write'}: {error.strerror or 'refused'}", 1, "CannotError")
        except MemoryError:
            return fail("not enough memory for this request", 1, "CannotError")
        except Exception as error:
            if "no locator available" in str(error):  # numba found no folder for compiled code; see compiled.py
                return fail("no folder can be written to; name one in TMPDIR or NUMBA_CACHE_DIR", 1, "CannotError")
            # A bug: the message of an unexpected exception could hold data, so only its type is shown.
            if os.environ.get("HUSHPATH_DEBUG"):
                raise
            kind = type(error).__name__
            return fail(f"internal error ({kind}); set HUSHPATH_DEBUG=1 to see where", 1, "InternalError")
    return code if isinstance(code, int) else 0


def _stop(number: int, frame: Any) -> NoReturn:  # noqa: ARG001 - what signal handlers are given
    raise KeyboardInterrupt
