"""The page as one self-contained file: data, style and program.

The modules in ``js/`` are concatenated in the order of their imports, without ``import`` and ``export``: a page opened
from disk may not load modules.  The content security policy of the page allows its one script by digest, so nothing
else can run, and forbids every request.
"""

from __future__ import annotations

import base64
import hashlib
import re
from html import escape
from importlib.resources import files
from os import PathLike
from string import Template

from ..._validate import check_confidence
from ..._version import __version__
from ...errors import OptionError
from ...io.container import replacing
from ...network.labels import Label
from ...published.release import Release
from .data import pack, page_data

LONGEST_TITLE = 120
IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(async )?(function|class|const) )", re.MULTILINE)
COMMENT = re.compile(r"^ */\*\*(?:(?!\*/).)*\*/\n|^ *//[^\n]*\n", re.MULTILINE | re.DOTALL)  # whole lines only


def write_explorer(
    release: Release, path: str | PathLike[str], *, title: str | None = None, origin: Label | None = None,
    confidence: float = 0.9,
) -> int:  # fmt: skip
    """Write a map page of a release, completely or not at all.

    Parameters
    ----------
    release : Release
        The release to show, with all its periods.
    path : path
        The HTML file to write.
    title : str, optional
        One line; the quantity of the release by default.
    origin : label, optional
        The start that is chosen when the page opens.
    confidence : float
        Confidence of the intervals.

    Returns
    -------
    int
        The size of the file in bytes.

    Raises
    ------
    OptionError
        If the title or the confidence is invalid.
    CannotError
        If the release has no edge weights and too many nodes for a table of all distances.

    Examples
    --------
    >>> import tempfile, hushpath
    >>> net = hushpath.Network.build(range(3), [0, 1], [1, 2], [5.0, 7.0])
    >>> rel = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="input")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     hushpath.write_explorer(rel, f"{folder}/map.html", title="A line") > 10_000
    True
    """
    text = explorer(release, title=title, origin=origin, confidence=confidence).encode()
    with replacing(path) as temporary:
        temporary.write_bytes(text)
    return len(text)


def explorer(
    release: Release, *, title: str | None = None, origin: Label | None = None, confidence: float = 0.9
) -> str:
    """Return the page as text; see ``write_explorer``."""
    check_confidence(confidence)
    title = default_title(release) if title is None else title
    if not isinstance(title, str) or not 0 < len(title) <= LONGEST_TITLE or not title.isprintable():
        raise OptionError(f"`title` must be one line of 1 to {LONGEST_TITLE} characters")
    start = None if origin is None else release.topology.index(origin)
    header, arrays = page_data(release, title=title, origin=start, confidence=confidence)
    script = program("main")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Template(_text("page.html")).substitute(
        title=escape(title), version=escape(__version__), style=_text("style.css"), hash=f"sha256-{digest}",
        data=pack(header, arrays), worker=program("worker"), script=script,
    )  # fmt: skip


def default_title(release: Release) -> str:
    """Return the quantity of the release as a title."""
    noun = release.statement.quantity.noun
    return f"{noun[:1].upper()}{noun[1:]}s"


def program(name: str) -> str:
    """Return a JavaScript module and all its imports as one script."""
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
