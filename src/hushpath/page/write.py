"""One self-contained file: data, style and program, assembled without tools.

The program is modules in ``js/``, each checked on its own by the tests.  Here they are put behind each other in the
order in which they need each other, their ``import`` and ``export`` taken away: a page opened from a disk may not load
modules.  A policy in the page names the digest of its one script, so nothing else can run, and forbids every request.
"""

from __future__ import annotations

import base64
import hashlib
import re
from html import escape
from importlib.resources import files
from os import PathLike
from string import Template

from .._version import __version__
from ..data.labels import Label
from ..errors import OptionError
from ..files.container import replacing
from ..publish.asked import check_confidence
from ..publish.oracle import Release
from .data import page_data
from .packing import packed

LONGEST_TITLE = 120
IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(async )?(function|class|const) )", re.MULTILINE)
COMMENT = re.compile(r"^ */\*\*(?:(?!\*/).)*\*/\n|^ *//[^\n]*\n", re.MULTILINE | re.DOTALL)  # whole lines only


def write_explorer(
    release: Release, path: str | PathLike[str], *, title: str | None = None, origin: Label | None = None,
    confidence: float = 0.9,
) -> int:  # fmt: skip
    """Write the page of a release, complete or not at all; return how many bytes it has."""
    text = explorer(release, title=title, origin=origin, confidence=confidence).encode()
    with replacing(path) as temporary:
        temporary.write_bytes(text)
    return len(text)


def explorer(
    release: Release, *, title: str | None = None, origin: Label | None = None, confidence: float = 0.9
) -> str:
    """The page as text: a map to ask for any released distance, in one HTML document that loads nothing.

    It opens with distances from ``origin``, if that is given.
    """
    check_confidence(confidence)
    said = default_title(release) if title is None else title
    if not isinstance(said, str) or not 0 < len(said) <= LONGEST_TITLE or not said.isprintable():
        raise OptionError(f"a title is one line of 1 to {LONGEST_TITLE} characters")
    start = None if origin is None else release.topology.index(origin)
    header, arrays = page_data(release, title=said, origin=start, confidence=confidence)
    script = program("main")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Template(_text("page.html")).substitute(
        title=escape(said), version=escape(__version__), style=_text("style.css"), hash=f"sha256-{digest}",
        data=packed(header, arrays), worker=program("worker"), script=script,
    )  # fmt: skip


def default_title(release: Release) -> str:
    """What the numbers are, in a few words."""
    noun = release.statement.quantity.noun
    return f"{noun[:1].upper()}{noun[1:]}s"


def program(name: str) -> str:
    """One module and all it needs, as one script."""
    done: dict[str, str] = {}

    def add(module: str) -> None:
        if module not in done:
            text = _text(f"js/{module}.js")
            for needed in IMPORT.findall(text):
                add(needed)
            done[module] = COMMENT.sub("", EXPORT.sub("", IMPORT.sub("", text)))

    add(name)
    return "\n" + "\n".join(done.values())


def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
