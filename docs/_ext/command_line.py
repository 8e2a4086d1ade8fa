"""The directive ``hushpath-verbs``: every verb of the command line with its options, from the program itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer.main
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from hushpath.cli.app import app as program

NO_DEFAULT = (None, False, "", [], ())


class Verbs(SphinxDirective):
    """A section per verb: what it does, how it is called, tables of its options."""

    def run(self) -> list[nodes.Node]:
        """What stands in place of the directive."""
        told = "\n".join(_told(typer.main.get_command(program), "hushpath"))
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
    """One line of Markdown: options as code, pages as links."""
    words = re.sub(r"\s+", " ", text or "").replace("|", "\\|").strip()
    words = re.sub(r"`[^`]*`|--[\w-]+", lambda found: f"`{found[0].strip('`')}`", words)
    return re.sub(r"docs/(\w+)\.md", r"[\1.md](/\1.md)", words)


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this."""
    app.add_directive("hushpath-verbs", Verbs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
