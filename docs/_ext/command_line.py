"""Two directives whose text comes from the program itself.

``hushpath-verbs``: every verb of the command line with its options.
``hushpath-keys``: every key of a specification with its default.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import MISSING, fields
from itertools import groupby
from typing import Any

import typer.main
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from hushpath.cli.app import app_for
from hushpath.privacy.units import TripUnit
from hushpath.releasing.spec import SECTIONS
from hushpath.releasing.spec_text import KEYS, toml_value

NO_DEFAULT = (None, False, "", [], ())


class Keys(SphinxDirective):
    """A table per section of a specification: key, meaning, default."""

    def run(self) -> list[nodes.Node]:
        """Return the tables."""
        return self.parse_text_to_nodes("\n".join(_key_tables()), allow_section_headings=True)


def _key_tables() -> Iterator[str]:
    for section, keys in groupby(KEYS, lambda path: path.partition(".")[0]):
        kinds = [SECTIONS[section], *([TripUnit] if section == "unit" else [])]
        defaults = {one.name: one.default for kind in kinds for one in fields(kind)}
        yield f"### [{section}]\n\n| key | meaning | default |\n|---|---|---|"
        for path in keys:
            key = path.partition(".")[2]
            value = defaults.get(key)
            shown = "" if value in (None, MISSING, ()) or value != value else f"`{toml_value(value)}`"
            yield f"| `{key}` | {_plain(KEYS[path].help)} | {shown} |"
        yield ""


class Verbs(SphinxDirective):
    """A section per verb: what it does, how it is called, tables of its options."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        told = "\n".join(_told(typer.main.get_command(app_for([])), "hushpath"))
        return self.parse_text_to_nodes(told, allow_section_headings=True)


def _told(command: Any, name: str) -> Iterator[str]:
    if inner := getattr(command, "commands", None):
        for verb, one in inner.items():
            yield from _told(one, f"{name} {verb}")
        return
    arguments = [one for one in command.params if not one.opts[0].startswith("-")]
    yield f"## {name}\n\n{_plain(command.help)}\n"
    words = [_word(one) if one.required else f"[{_word(one)}]" for one in arguments]
    yield f"```text\n{' '.join([name, *words, '[OPTIONS]'])}\n```\n"
    panels: dict[str, list[Any]] = {}
    for one in command.params:
        if not getattr(one, "hidden", False) and one.name != "help":
            panels.setdefault(getattr(one, "rich_help_panel", None) or "", []).append(one)
    for panel, several in panels.items():
        yield f"{f'**{_plain(panel)}**' if panel else ''}\n\n| | |\n|---|---|"
        yield from (f"| {_names(one)} | {_plain(getattr(one, 'help', ''))}{_default(one)} |" for one in several)
        yield ""


def _names(one: Any) -> str:
    if not one.opts[0].startswith("-"):
        return f"`{_word(one)}`"
    return ", ".join(f"`{name}`" for name in [*one.opts, *one.secondary_opts])


def _word(argument: Any) -> str:
    return str(argument.metavar or argument.name).upper()


def _default(one: Any) -> str:
    shown = "" if callable(one.default) or one.default in NO_DEFAULT else f" Default: `{one.default}`."
    return (" **Required.**" if one.required else "") + shown


def _plain(text: str | None) -> str:
    """One line of Markdown, with options as code."""
    words = re.sub(r"\s+", " ", text or "").replace("|", "\\|").strip()
    return re.sub(r"`[^`]*`|--[\w-]+", lambda found: f"`{found[0].strip('`')}`", words)


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this."""
    app.add_directive("hushpath-verbs", Verbs)
    app.add_directive("hushpath-keys", Keys)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
