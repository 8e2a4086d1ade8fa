"""Links from a page to a file of the project that is no page lead to a copy of that file in the site, in colours.

In Markdown such a link is a relative path, ``../src/hushpath/paper.py``, so it works wherever the sources are looked
at.  Before a page is read it becomes an address with a mark, which no parser takes for a missing page; when pages are
written the mark is replaced.  A folder becomes a list of its files.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.osutil import relative_uri

ROOT = Path(__file__).parents[2]
LOG = logging.getLogger(__name__)
MARK = "code-page:"
LINK = re.compile(r"(?<=\]\()(?!\w+:|/)[^)\s#]+(?<!\.png)(?<!\.svg)(?=[)#])")  # no address, no picture
FILE = re.compile(r"(?:[\w-]+/)*[\w-]+\.md")
INCLUDED = re.compile(r"^:::\{include\} (\S+)\n:::$", re.M)
STAMPS = re.compile(r"((?:^Proves: .*\n)+)", re.M)  # of proofs: of use to machines, so they are folded away
STAMPED = ":::{dropdown} The code that this proof is about, with stamps\n```text\n\\1```\n:::\n"
AS_PAGES = {
    "CHANGELOG.md": "project/changelog", "CONTRIBUTING.md": "project/contributing", "SECURITY.md": "project/reporting",
    "CODE_OF_CONDUCT.md": "project/conduct", "RELEASING.md": "project/releasing", "README.md": "index",
    "examples/README.md": "tutorials/examples", "examples": "tutorials/examples", "docs/proofs": "reference/proofs",
}  # fmt: skip


def mark(app: Sphinx, docname: str, source: list[str]) -> None:
    """Give links that leave the documentation their mark."""
    folder = Path(app.env.doc2path(docname)).parent
    if included := INCLUDED.search(source[0]):  # links in the text of a file outside count from where it stands
        path = (folder / included[1]).resolve()
        source[0] = source[0].replace(included[0], path.read_text(encoding="utf-8"))
        app.env.note_dependency(str(path), docname=docname)
        folder = path.parent

    def marked(match: re.Match[str]) -> str:
        target = (folder / match[0]).resolve()
        if not target.exists():
            LOG.warning("a link leads to %s, which is not there", match[0], location=docname)
            return match[0]
        inside = target.relative_to(ROOT).as_posix()
        page = AS_PAGES.get(inside) or (target.suffix == ".md" and inside.startswith("docs/") and inside[5:-3])
        return f"/{page}.md" if page else f"{MARK}//{inside}"

    source[0] = STAMPS.sub(STAMPED, LINK.sub(marked, source[0]))


def lead(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Lead marked links to the pages that are made for them; links that are the name of a file show its title."""
    for link in doctree.findall(nodes.reference):
        named = FILE.fullmatch(link.astext())
        if link.get("internal") and named and (page := _meant(app, docname, link["refuri"])) in app.env.titles:
            link.children = [nodes.inline("", app.env.titles[page].astext())]
        if link.get("refuri", "").startswith(MARK):
            inside = link["refuri"].removeprefix(MARK + "//")
            app.env.code_pages.add(inside)  # type: ignore[attr-defined]
            here = app.builder.get_target_uri(docname)
            link["refuri"] = relative_uri(here, app.builder.get_target_uri(_page(inside)))


def pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Every file that is linked to, and those in folders that are."""
    waiting, made = sorted(app.env.code_pages), set()  # type: ignore[attr-defined]
    while waiting:
        inside = waiting.pop(0)
        if inside in made:
            continue
        made.add(inside)
        path = ROOT / inside
        if path.is_dir():
            files = [one for one in sorted(path.iterdir()) if one.is_file() and not one.name.startswith(".")]
            waiting += [one.relative_to(ROOT).as_posix() for one in files]
            rows = (f'<li><a href="{path.name}/{one.name}.html">{escape(one.name)}</a></li>' for one in files)
            body = f"<ul>{''.join(rows)}</ul>"
        else:
            body = _coloured(path)
        title = escape(inside)
        yield _page(inside), {"title": title, "body": f"<section><h1>{title}</h1>{body}</section>"}, "page.html"


def _meant(app: Sphinx, docname: str, uri: str) -> str:
    """The page behind an address that counts from another page."""
    here = posixpath.dirname(app.builder.get_target_uri(docname))
    return posixpath.normpath(posixpath.join(here, uri.partition("#")[0])).removesuffix(".html")


def _page(inside: str) -> str:
    return f"code/{inside}"


def _coloured(path: Path) -> str:
    try:
        lexer = get_lexer_for_filename(path.name)
    except ClassNotFound:
        lexer = TextLexer()
    return str(highlight(path.read_text(encoding="utf-8"), lexer, HtmlFormatter(cssclass="highlight")))


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this."""
    app.connect("builder-inited", lambda app: setattr(app.env, "code_pages", set()))
    app.connect("source-read", mark)
    app.connect("doctree-resolved", lead)
    app.connect("html-collect-pages", pages)
    return {"parallel_read_safe": False, "parallel_write_safe": False}
