"""A real browser, a page per test, and the rule that holds for all of them: silent network, silent console."""

import pandas as pd
import pytest
from tools import FRAMES, NO_BROWSER, SWITCHES, chromium
from town import grid

import hushpath
from hushpath.output.page.explorer import write_explorer


@pytest.fixture(scope="module")  # not longer: while it is open, its event loop runs, and other tests have their own
def browser():
    if chromium() is None:
        pytest.skip(NO_BROWSER)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=chromium(), args=SWITCHES)
        yield opened
        opened.close()


@pytest.fixture
def visit(browser):
    """Open a file in a fresh window without a network; afterwards nothing was asked for, and nothing complained."""
    asked, complaints, windows = [], [], []

    def opened(path, anchor="", **settings):
        window = browser.new_context(**{"viewport": {"width": 1100, "height": 720}, "offline": True, **settings})
        page = window.new_page()
        windows.append(window)
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(f"file://{path}{anchor}")
        page.wait_for_selector("html[data-loaded=yes]", state="attached")
        page.evaluate(FRAMES)
        return page

    opened.complaints = complaints
    yield opened
    for window in windows:
        window.close()
    assert complaints == []
    assert [one for one in asked if not one.startswith(("file:", "blob:", "data:"))] == []


@pytest.fixture(scope="session")
def released():
    net, quantity = grid(), hushpath.Quantity("travel time", "minutes", "2026-03")
    plan = hushpath.plan(net.topology, epsilon=1.0, unit=1.0, mechanism="input", max_weight=9, ignore_baseline=True)
    return hushpath.release(net, plan=plan, quantity=quantity).with_decoder(estimator="clip")


@pytest.fixture(scope="session")
def file(released, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    write_explorer(released, path, title="A town & its streets")
    return path


@pytest.fixture(scope="session")
def trips_release():
    """Trips in the morning and in the evening, on a ring."""
    ends = [(f"n{i:02d}", f"n{(i + 1) % 12:02d}") for i in range(12)]
    table = pd.DataFrame([(*pair, 10.0, 10.0) for pair in ends], columns=["source", "target", "weight", "free"])
    topology = hushpath.Network.from_pandas(table, directed=True, proxy="free").topology
    rows = [(p, f"2026-10-{1 + p % 9:02d}", *ends[(p + i) % 12], 10.0 + p % 7 + 20 * (p % 2), "pm" if p % 2 else "am")
            for p in range(400) for i in range(5)]  # fmt: skip
    passes = pd.DataFrame(rows, columns=["person", "date", "from", "to", "seconds", "period"])
    trips = hushpath.read_trips(
        passes, topology, person="person", day="date", edge=("from", "to"), seconds="seconds", period="period",
        periods=["am", "pm"],
    )  # fmt: skip
    return hushpath.release_trips(trips, epsilon=4, protects="person-day", low=0.5, high=6.0)
