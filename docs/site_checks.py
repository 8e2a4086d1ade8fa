"""What is wrong with a built site: links that lead nowhere, and whatever would be loaded from elsewhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

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
