"""Build the documentation and check it: `make docs`.

    python docs/site.py build/site

A warning of Sphinx is an error.  Then every link of every page is followed to its file and its heading, and nothing may
be loaded from elsewhere: the site is read from a disk, and nobody learns who reads it.  (Addresses of other sites are
not asked for here: `make docs-links` does that, where there is a network.)
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

DOCS = Path(__file__).parent
LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}


class Page(HTMLParser):
    """What a page links to, loads, and can be linked at."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[tuple[str, bool]] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect."""
        for key, value in attrs:
            if value and key in ("id", "name"):
                self.names.add(value)
            elif value and key in ("href", "src"):
                self.links.append((value, (tag, key) in LOADED))


def build(out: Path) -> None:
    """Make the site; raises with what Sphinx said if there was any warning."""
    from sphinx.cmd.build import build_main

    if build_main(["-q", "-W", "--keep-going", "-b", "html", "-d", str(out) + ".work", str(DOCS), str(out)]):
        raise SystemExit("the site was not built: see above")


def faults(site: Path) -> list[str]:
    """Links that lead nowhere, and what would be loaded from elsewhere."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        for link, loaded in page.links:
            parts, here = urlsplit(link), path.relative_to(site)
            if parts.scheme in ("http", "https", "mailto") or link.startswith("//"):
                if loaded:
                    found.append(f"{here} loads {link}")
                continue
            if parts.scheme:  # data: in pictures of the theme
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                found.append(f"{here} links to {link}: no such file")
            elif target in pages and parts.fragment and unquote(parts.fragment) not in pages[target].names:
                found.append(f"{here} links to {link}: no such heading")
    for style in site.rglob("*.css"):
        found += [f"{style.name} loads {one}" for one in re.findall(r"url\(['\"]?(https?:[^)]+)", style.read_text())]
    return found


def main() -> None:
    """Build into the folder that is named, and say what is wrong."""
    out = Path(sys.argv[1] if len(sys.argv) > 1 else DOCS.parent / "build" / "site").resolve()
    build(out)
    if wrong := faults(out):
        raise SystemExit("\n".join(wrong))
    print(f"{len(list(out.rglob('*.html')))} pages, every link leads somewhere: open {out / 'index.html'}")


if __name__ == "__main__":
    main()
