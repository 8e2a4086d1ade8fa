"""One page that lists every endpoint: plain HTML from the OpenAPI document, without scripts and without other hosts."""

from __future__ import annotations

from html import escape
from typing import Any

STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color:#1b2733}"
    "code{background:#eef4fb;padding:.1em .3em}h2{margin-top:2rem}td{padding:.15rem 1rem .15rem 0;vertical-align:top}"
)
POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"


def page(document: dict[str, Any], marking: list[str]) -> str:
    """The endpoints of an OpenAPI document; whatever is NOT PRIVATE is said first."""
    out = [f"<!doctype html><html lang=en><meta charset=utf-8><title>hushpath</title><style>{STYLE}</style>"]
    out += [f"<h1>{escape(document['info']['title'])}</h1>", *(f"<p><strong>{escape(m)}</strong></p>" for m in marking)]
    out.append(f"<p>{escape(document['info']['description'])} The whole of it for machines: ")
    out.append("<a href=openapi.json>openapi.json</a>.</p>")
    for path, methods in document["paths"].items():
        for method, said in methods.items():
            out.append(f"<h2><code>{method.upper()} {escape(path)}</code></h2><p>{escape(said.get('summary', ''))}</p>")
            out.append(_table(_fields(said)))
    return "".join([*out, "</html>"])


def _fields(said: dict[str, Any]) -> list[tuple[str, str]]:
    found = [(one["name"], one.get("description", "")) for one in said.get("parameters", [])]
    content = said.get("requestBody", {}).get("content", {}).get("application/json", {})
    named = content.get("schema", {}).get("properties", {})
    return found + [(name, schema.get("description", "")) for name, schema in named.items()]


def _table(rows: list[tuple[str, str]]) -> str:
    lines = [f"<tr><td><code>{escape(name)}</code><td>{escape(text)}" for name, text in rows]
    return f"<table>{''.join(lines)}</table>" if lines else ""
