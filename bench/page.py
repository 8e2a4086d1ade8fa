"""How long a page takes to open and to answer, measured in headless chromium, without a graphics card.

    make bench-page                                     the largest network of HUSHPATH_DATA, or a grid of 100 000 edges
    .venv/bin/python bench/page.py --clicks 50

Printed: the size of the file, the first paint, when the map is ready, and from a click to the coloured map: the median
and the worst of some clicks.  WebGL is drawn in software here, so a browser with a graphics card is faster.  The
numbers of the page are compared with Python's, too.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import hushpath
from hushpath.output.page.explorer import write_explorer
from hushpath.progress import shown

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "browser"))
from tools import NO_BROWSER, SWITCHES, chromium

CLICK = """async label => {
  const box = document.getElementById("map"), [x, y] = hushpath.screen(label), at = box.getBoundingClientRect();
  const told = {pointerId: 1, pointerType: "mouse", clientX: at.left + x, clientY: at.top + y, bubbles: true};
  box.setPointerCapture = () => {};
  const before = document.documentElement.dataset.ready, began = performance.now();
  for (const name of ["pointerdown", "pointerup"]) box.dispatchEvent(new PointerEvent(name, told));
  while (document.documentElement.dataset.ready === before) await new Promise(done => setTimeout(done));
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  return performance.now() - began;
}"""


def network():
    """The largest real network at hand, or a grid."""
    folder = Path(os.environ.get("HUSHPATH_DATA", "/nowhere"))
    file = folder / "luxembourg_time.csv"
    if file.is_file():
        return file.stem, hushpath.read_network(file, nodes=folder / "luxembourg_time.nodes.csv")
    side = 224
    at = np.arange(side * side).reshape(side, side)
    tails = np.concatenate([at[:-1].ravel(), at[:, :-1].ravel()])
    heads = np.concatenate([at[1:].ravel(), at[:, 1:].ravel()])
    places = np.column_stack([np.tile(np.arange(side), side), np.repeat(np.arange(side), side)])
    weights = np.random.default_rng(1).integers(5, 60, len(tails)).astype(float)
    return "grid", hushpath.Network.build(range(side * side), tails, heads, weights, coordinates=places)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clicks", type=int, default=20)
    clicks = parser.parse_args().clicks
    if chromium() is None:
        sys.exit(NO_BROWSER)
    from playwright.sync_api import sync_playwright

    name, net = network()
    made = hushpath.release(
        net, plan=hushpath.plan(net.topology, epsilon=1, unit=20, mechanism="input", ignore_baseline=True)
    ).with_decoder(estimator="clip")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started, shown():
        file = Path(folder) / "page.html"
        began = time.perf_counter()
        size = write_explorer(made, file)
        took = time.perf_counter() - began
        print(f"{name}: {net.topology.num_edges} edges; page of {size / 1e6:.2f} MB in {took:.0f} s")
        browser = started.chromium.launch(executable_path=chromium(), args=SWITCHES)
        for painter in ("webgl", "canvas"):
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(f"file://{file}#draw={painter}")
            page.wait_for_selector("html[data-loaded=yes]", state="attached")
            ready = page.evaluate("performance.now()")
            page.wait_for_timeout(2000)
            paint = page.evaluate("Math.min(...performance.getEntriesByType('paint').map(one => one.startTime))")
            rng = np.random.default_rng(3)
            labels = [str(net.topology.labels[i]) for i in rng.integers(0, net.topology.num_nodes, clicks)]
            took = [page.evaluate(CLICK, label) for label in labels]
            print(
                f"  {painter:6s}  first paint {paint:.0f} ms, ready {ready:.0f} ms; click to "
                f"coloured map: median {np.median(took):.0f} ms, worst {max(took):.0f} ms of {clicks}"
            )
        ends = rng.integers(0, net.topology.num_nodes, 1000).tolist()
        pairs = [(labels[i % min(clicks, 10)], str(net.topology.labels[end])) for i, end in enumerate(ends)]
        ask = "pairs => Promise.all(pairs.map(one => hushpath.distance(...one)))"
        found = [one["distance"] for one in page.evaluate(ask, pairs)]
        wrong = int((np.array(found) != made.distances(pairs)).sum())
        print(f"  of {len(pairs)} distances {wrong} differ from Python's")
        browser.close()


if __name__ == "__main__":
    main()
