"""Draw the house from its table: docs/house.svg, one box per room of docs/ARCHITECTURE.md.

.venv/bin/python docs/draw_house.py
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

HERE = Path(__file__).parent
ROW = re.compile(r"^\| `(?P<room>[a-z]+)` \| (?P<files>[^|]*)\| (?P<text>[^|]+) \|$", re.M)
FLOORS = [  # from the roof down; what a floor is, its rooms from right to left
    ("programs", ["cli", "lab", "demo"]),
    ("a release, for people and their programs", ["serve", "report", "page", "export", "output"]),
    ("public again", ["publish", "decode", "estimate"]),
    ("PRIVATE: the one door", ["measure"]),
    ("public: what to measure", ["strategy", "blocks", "decompose", "cells", "kernels"]),
    ("what an owner has, and what a promise rests on", ["privacy", "noise", "files", "data"]),
]
ASIDE = {"measure": "exact numbers + exact noise, once: the only place where private weights and noise meet"}
WIDTH, LEFT, TOP, HEIGHT, GAP = 960, 30, 118, 112, 12
PUBLIC, PRIVATE, INK, GREY = ("#eef4fb", "#2f6db0", "#1f4e79"), ("#fdeee6", "#c4561b", "#a3420f"), "#1b2733", "#44525f"


def drawn() -> str:
    """The picture."""
    rooms = {row["room"]: row["text"] for row in ROW.finditer((HERE / "ARCHITECTURE.md").read_text(encoding="utf-8"))}
    assert {room for _, row in FLOORS for room in row} == set(rooms), "a room has no place in the picture"
    tall = TOP + len(FLOORS) * (HEIGHT + GAP) + 10
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {tall}" role="img" '
        "font-family=\"system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif\" "
        'aria-label="The rooms of the package as a house: what an owner has below, the one private door in the middle, '
        'programs for people under the roof.">',
        f'<rect width="{WIDTH}" height="{tall}" fill="#ffffff"/>',
        f'<path d="M{LEFT - 16} {TOP - 6} L{WIDTH / 2} 16 L{WIDTH - LEFT + 16} {TOP - 6} z" fill="#dfe7ef"/>',
        f'<text x="{WIDTH / 2}" y="{TOP - 22}" text-anchor="middle" font-size="17" font-weight="700" fill="{INK}">'
        "hushpath: a room imports only from rooms below it, or to its left</text>",
    ]
    for floor, (title, row) in enumerate(FLOORS):
        y = TOP + floor * (HEIGHT + GAP)
        back, edge, word = PRIVATE if "measure" in row else PUBLIC
        out.append(f'<rect x="{LEFT}" y="{y}" width="{WIDTH - 2 * LEFT}" height="{HEIGHT}" rx="10" fill="{back}"/>')
        at = f'x="{LEFT + 12}" y="{y + 19}" font-size="12.5" font-weight="700"'
        out.append(f'<text {at} fill="{word}">{title}</text>')
        wide = (WIDTH - 2 * LEFT - 12 * (len(row) + 1)) / len(row)
        for place, room in enumerate(row[::-1]):
            x, text = LEFT + 12 + place * (wide + 12), ASIDE.get(room, rooms[room])
            out.append(
                f'<rect x="{x:.1f}" y="{y + 27}" width="{wide:.1f}" height="{HEIGHT - 37}" rx="7" fill="#ffffff" '
                f'stroke="{edge}" stroke-width="1.5"/>'
                f'<text x="{x + 10:.1f}" y="{y + 46}" font-size="14.5" font-weight="650" fill="{INK}">{room}/</text>'
            )
            for line, words in enumerate(textwrap.wrap(text, int(wide / 6.9))[:3]):
                below = y + 62 + 13 * line
                out.append(f'<text x="{x + 10:.1f}" y="{below}" font-size="11.2" fill="{GREY}">{words}</text>')
    return "\n".join([*out, "</svg>\n"])


if __name__ == "__main__":
    (HERE / "house.svg").write_text(drawn(), encoding="utf-8")
