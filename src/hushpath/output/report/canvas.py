"""The style of every picture: colours, plain axes, PNG bytes.

The colours (Okabe and Ito, and similar ones) are distinguishable with all common forms of colour blindness.  A
mechanism has one colour and one marker in every picture.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...extras import library
from ...mechanism.registry import MECHANISMS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, GREY, PALE, BLUE, ORANGE = "#1d2329", "#767676", "#e6e6e6", "#0072b2", "#d55e00"
WARNING = "#b34700"  # a darker orange, for text
COLOURS = (
    BLUE, "#8c8c8c", "#009e73", "#56b4e9", "#332288", "#a89a00", "#cc79a7", ORANGE, "#e69f00", "#882255", "#000000",
)  # fmt: skip
MARKS = "osD^vPX*dhp"


def needs_matplotlib() -> None:
    """Raise an error if matplotlib is missing; call this before long work that ends in a picture."""
    library("matplotlib", "pictures", "a picture")


def colour(mechanism: str) -> str:
    """Return the colour of a mechanism."""
    return COLOURS[_place(mechanism) % len(COLOURS)]


def mark(mechanism: str) -> str:
    """Return the marker of a mechanism."""
    return MARKS[_place(mechanism) % len(MARKS)]


def _place(mechanism: str) -> int:
    names = list(MECHANISMS)
    return names.index(mechanism) if mechanism in names else len(names)


def blank(width: float, height: float, *, dpi: int = 200, layout: Any = None) -> Figure:
    """Make a figure without a window, sized so that 12-point text is legible on a phone."""
    needs_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=dpi, facecolor="white", layout=layout)
    FigureCanvasAgg(figure)
    return figure


def panels(count: int, columns: int, *, height: float, legend: Sequence[str]) -> tuple[Figure, Any]:
    """Make a figure with ``count`` axes in rows and one legend of mechanisms above them."""
    needs_matplotlib()
    from matplotlib.layout_engine import ConstrainedLayoutEngine
    from matplotlib.lines import Line2D

    rows = math.ceil(count / columns)
    tall = rows * height + 0.7
    layout = ConstrainedLayoutEngine(rect=(0, 0.22 / tall, 1, 1 - 0.55 / tall), w_pad=0.1, h_pad=0.09)
    figure = blank(11.0, tall, dpi=110, layout=layout)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for spare in axes[count:]:
        spare.set_axis_off()
    handles = [
        Line2D([], [], color=colour(name), marker=mark(name), markersize=6, linewidth=2, label=name) for name in legend
    ]
    figure.legend(
        handles=handles, loc="upper left", ncols=min(9, max(1, len(handles))), frameon=False, fontsize=10,
        handlelength=1.8, columnspacing=1.3, bbox_to_anchor=(0.005, 1.0),
    )  # fmt: skip
    return figure, axes[:count]


def plain(axes: Any, title: str, *, text: float = 9, hue: str = INK) -> None:
    """Style axes plainly, with text of one size in points."""
    axes.set_title(title, fontsize=max(11, text), fontweight="bold", color=hue, loc="left", pad=text - 3)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        axes.spines[side].set_color(GREY)
    axes.tick_params(labelsize=text, colors=INK, length=3, which="major")
    axes.tick_params(length=0, which="minor")
    axes.xaxis.label.set(size=text + 1, color=INK)
    axes.yaxis.label.set(size=text + 1, color=INK)
    axes.grid(color=PALE, linewidth=0.7)
    axes.set_axisbelow(True)


def whole_decades(axes: Any, which: str = "xy") -> None:
    """Make axes logarithmic, with few and plain labels."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for letter in which:
        axis = axes.xaxis if letter == "x" else axes.yaxis
        getattr(axes, f"set_{letter}scale")("log")
        low, high = sorted(axis.get_view_interval())
        narrow = high / max(low, 1e-300) < 30
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if narrow else (1.0,), numticks=7))
        axis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))
        axis.set_minor_formatter(NullFormatter())


def short_number(value: float) -> str:
    """Format 1000 as 1k, and 10^6 and larger as a power."""
    if value >= 1e6:
        return f"$10^{{{math.log10(value):.0f}}}$"
    return f"{value / 1000:g}k" if value >= 1000 else f"{value:g}"


def png(figure: Figure, warning: str = "") -> bytes:
    """Return the picture as PNG, the same bytes for the same numbers; a warning is written into the picture."""
    if warning:
        figure.text(0.995, 0.004, warning, ha="right", va="bottom", fontsize=7.5, color=WARNING)
    file = io.BytesIO()
    figure.savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()
