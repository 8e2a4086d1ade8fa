"""The page in a real browser: Python's numbers, by mouse, by keys, by touch, in the dark, and without a network."""

import io
import json
import re

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect
from tools import FRAMES
from town import grid

import hushpath
from hushpath.output.page.explorer import write_explorer

ASK = "async pairs => await Promise.all(pairs.map(one => hushpath.distance(...one)))"
UNLIMITED = dict(epsilon=float("inf"), unit=1.0)


def ready(page):
    """Wait for an answer and for two frames after it."""
    page.wait_for_selector("html[data-ready]", state="attached")
    page.evaluate(FRAMES)


def choose(page, box, label):
    """As somebody types who has no mouse."""
    page.locator(f"#{box}").focus()
    page.keyboard.type(label)
    page.keyboard.press("Enter")


def compared(page, release, count=1000, period=None):
    """Ask the page and Python about the same pairs."""
    rng, labels = np.random.default_rng(7), release.topology.labels
    pairs = [(str(labels[i]), str(labels[j])) for i, j in rng.integers(0, len(labels), (count, 2))]
    found = page.evaluate(ASK, [[*pair, *([period] if period else [])] for pair in pairs])
    asked = release if period is None else release.for_period(period)
    # JSON has no infinity: playwright hands it over as itself
    return found, asked.distances(pairs), asked.intervals(pairs)


def test_numbers_are_those_of_python_to_the_last_bit(visit, file, released):
    found, distances, intervals = compared(visit(file), released)
    assert [one["distance"] for one in found] == distances.tolist()
    assert np.isinf(distances).any()
    assert (distances == 0).any()
    told = np.array([[one["low"], one["high"]] for one in found])
    held = np.isfinite(distances)
    # Ends of the curves travel in single precision.
    assert np.allclose(told[held], intervals[held], rtol=1e-6, atol=1e-6)
    assert np.isinf(told[~held]).all()


KINDS = ["all-pairs", "cover", "hubs", "hubs-bounded", "separator", "separator-cover", "lines"]


@pytest.mark.quick(every=3)
@pytest.mark.parametrize("mechanism", KINDS)
def test_every_mechanism_has_a_page(visit, tmp_path, mechanism):
    net = hushpath.Network.build(range(30), *np.array([(i, i + 1) for i in range(29)] + [(0, 29), (5, 20)]).T,
                                 np.arange(31.0) % 5 + 1)  # fmt: skip
    made = hushpath.release(
        net,
        plan=hushpath.plan(net.topology, epsilon=1, unit=1, mechanism=mechanism, max_weight=6, ignore_baseline=True),
    )
    write_explorer(made, tmp_path / "x.html")
    found, distances, intervals = compared(visit(tmp_path / "x.html"), made, 200)
    assert [one["distance"] for one in found] == distances.tolist()
    if found[0]["low"] is not None:
        assert np.allclose([[one["low"], one["high"]] for one in found], intervals, rtol=1e-5, atol=1e-5)


def test_a_directed_network(visit, tmp_path):
    made = hushpath.release(
        grid(directed=True),
        plan=hushpath.plan(
            grid(directed=True).topology, epsilon=1, unit=1, mechanism="input", max_weight=9, ignore_baseline=True
        ),
    ).with_decoder(estimator="clip")
    write_explorer(made, tmp_path / "x.html")
    found, distances, _ = compared(visit(tmp_path / "x.html"), made)
    assert [one["distance"] for one in found] == distances.tolist()


def test_a_forest(visit, tmp_path):
    net = hushpath.Network.build(range(40), np.arange(1, 40), (np.arange(1, 40) - 1) // 2, np.arange(39) % 4 + 1.0)
    made = hushpath.release(
        net, plan=hushpath.plan(net.topology, epsilon=1, unit=1, mechanism="input", max_weight=9, ignore_baseline=True)
    ).with_decoder(estimator="clip")
    write_explorer(made, tmp_path / "x.html")
    found, distances, intervals = compared(visit(tmp_path / "x.html"), made, 300)
    assert [one["distance"] for one in found] == distances.tolist()
    assert np.allclose([[one["low"], one["high"]] for one in found], intervals, rtol=1e-5, atol=1e-5)


def test_periods(visit, tmp_path, trips_release):
    write_explorer(trips_release, tmp_path / "x.html")
    page = visit(tmp_path / "x.html", "#from=n00&to=n05&period=pm")
    ready(page)
    for period in ("am", "pm"):
        found, distances, _ = compared(page, trips_release, 100, period)
        assert [one["distance"] for one in found] == distances.tolist()
    assert page.locator("[name=period]:checked + span").inner_text() == "pm"
    before = page.locator("#answer .number").inner_text()
    page.get_by_label("am", exact=True).check()
    expect(page.locator("#answer .number")).not_to_have_text(before)
    assert "period=am" in page.url


def test_search_and_read_the_number(visit, file, released):
    page = visit(file)
    choose(page, "from", "harb")
    ready(page)
    choose(page, "to", "airport")
    text = page.locator("#answer").inner_text()
    low, high = released.interval("harbour", "airport")
    far = released.distance("harbour", "airport")
    assert "harbour → airport" in text
    numbers = re.findall(r"\d+(?:\.\d+)?", text.replace("90 %", "").split("→")[1])
    shown, first, last = map(float, numbers[:3])
    assert abs(shown - far) <= (high - low) / 4
    assert abs(first - low) <= (high - low) / 4
    assert abs(last - high) <= (high - low) / 4
    assert "minutes" in text
    assert "Path over" in text
    assert "from=harbour&to=airport" in page.url


def test_click_colours_the_map_and_hover_tells(visit, file):
    page = visit(file)
    before = page.screenshot()
    box = page.locator("#map").bounding_box()

    def place(label):
        x, y = page.evaluate("label => hushpath.screen(label)", label)
        return box["x"] + x, box["y"] + y

    page.mouse.click(*place("harbour"))
    ready(page)
    assert page.locator("#from").input_value() == "harbour"
    assert page.screenshot() != before
    page.mouse.move(*place("airport"))
    assert "harbour → airport" in page.locator("#answer").inner_text()
    page.keyboard.down("Shift")
    page.mouse.click(*place("corner 0.11"))
    page.keyboard.up("Shift")
    expect(page.locator("#legend")).to_contain_text("nearer to corner 0.11")


def pixels(page):
    """Colours on the map, by how often they occur."""
    data = page.locator("#map-box").screenshot()

    with Image.open(io.BytesIO(data)) as picture:
        return {colour: count for count, colour in picture.convert("RGB").getcolors(10**7)}


@pytest.mark.parametrize("painter", ["webgl", "canvas"])
def test_isochrones_are_drawn_from_intervals(visit, tmp_path, painter):
    """One long line: with no noise all is sure, and as much of it has the colour of each step as the steps say."""
    n = 200
    net = hushpath.Network.build(range(n + 1), np.arange(n), np.arange(1, n + 1), np.ones(n),
                                 coordinates=np.column_stack([np.arange(n + 1), np.zeros(n + 1)]))  # fmt: skip
    exact = hushpath.release(net, mechanism="input", **UNLIMITED)
    write_explorer(exact, tmp_path / "x.html")
    page = visit(tmp_path / "x.html", f"#from=0&steps=50,150&draw={painter}")
    ready(page)
    page.add_style_tag(content="#stamp {display: none !important}")
    found = pixels(page)
    near, far = found.get((0x44, 0x01, 0x54), 0), max(c for rgb, c in found.items() if rgb[1] > 180 and rgb[2] < 80)
    assert near > 100
    assert 1.6 < far / near < 2.4  # 50 to 150 is twice as long as 0 to 50
    page.locator("#steps").fill("50")
    page.wait_for_timeout(200)
    assert max((c for rgb, c in pixels(page).items() if rgb[1] > 180 and rgb[2] < 80), default=0) < near / 10


def test_steps_say_how_sure_they_are(visit, file):
    page = visit(file, "#from=harbour&steps=10,20")
    ready(page)
    legend = page.locator("#legend").inner_text().replace("\u00a0", " ")
    assert "within 10 minutes (90 %)" in legend
    assert "uncertain" in legend
    assert "beyond 20 minutes (90 %)" in legend


def test_the_page_shows_the_promise_of_the_statement(visit, file, released, trips_release, tmp_path):
    """Every sentence and every number, word for word."""
    write_explorer(trips_release, tmp_path / "x.html")
    for shown, made in ((file, released), (tmp_path / "x.html", trips_release)):
        page = visit(shown)
        assert page.locator("#protection").inner_text() == made.statement.promise.verdict
        page.locator("#promise-open").click()
        text = page.locator("#promise").inner_text()
        assert [one for one in made.statement.promise.sentences if one not in text] == []
    page = visit(file, "#from=harbour&versus=corner 0.1&to=airport")
    ready(page)
    verdict = page.locator(".verdict").first.inner_text()
    assert "90 % intervals" in verdict or verdict == "Both are equally far."


@pytest.mark.filterwarnings("ignore::hushpath.HushpathWarning")
def test_a_weak_promise_is_as_harsh_on_the_page(visit, tmp_path):
    """At epsilon 20 the page says that this is practically no protection, on a phone without scrolling sideways."""
    made = hushpath.release(grid(), epsilon=20.0, delta=0, unit=1.0, mechanism="input", max_weight=9).with_decoder(
        estimator="clip"
    )
    write_explorer(made, tmp_path / "x.html")
    page = visit(tmp_path / "x.html", viewport={"width": 380, "height": 760})
    assert "practically none" in page.locator("#protection").inner_text()
    page.locator("#promise-open").click()
    text = page.locator("#promise").inner_text()
    assert "99.9999998 %" in text
    assert not re.search("almost nothing|factor of e", text)
    dialog = page.locator("#promise").bounding_box()
    assert dialog["width"] <= 380
    assert page.evaluate("(one => one.scrollWidth <= one.clientWidth)(document.getElementById('promise'))")


def test_keyboard_alone(visit, file, released):
    page = visit(file)
    reached = []
    for _ in range(14):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.name"))
    assert {"map", "zoom-in", "from", "to", "promise-open", "theme"} <= set(reached)
    page.locator("#map").focus()
    page.keyboard.press("Enter")
    ready(page)
    start = page.locator("#from").input_value()
    assert start
    page.keyboard.press("+")
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    page.keyboard.press(" ")
    assert page.locator("#to").input_value() not in ("", start)
    assert "→" in page.locator("#answer").inner_text()
    page.locator("#from").focus()
    page.keyboard.type("corner 1")
    assert page.locator("#from").get_attribute("aria-expanded") == "true"
    page.keyboard.press("ArrowDown")
    active = page.locator("#from").get_attribute("aria-activedescendant")
    assert page.locator(f"#{active}").get_attribute("aria-selected") == "true"
    page.keyboard.press("Escape")
    assert page.locator("#from").get_attribute("aria-expanded") == "false"
    page.locator("#promise-open").focus()
    page.keyboard.press("Enter")
    assert released.statement.promise.verdict in page.locator("#promise").inner_text()
    page.keyboard.press("Escape")
    assert not page.locator("#promise").is_visible()


def test_a_screen_reader_finds_names(visit, file):
    """Every control has a name, and answers are announced."""
    page = visit(file)
    unnamed = page.evaluate("""() => [...document.querySelectorAll('button, input, select')].filter(one =>
        !one.labels?.length && !one.getAttribute('aria-label') && !one.innerText.trim()).map(one => one.id)""")
    assert unnamed == []
    assert page.locator("#answer").get_attribute("aria-live") == "polite"
    assert page.locator("html").get_attribute("lang") == "en"


def test_phone(visit, file):
    page = visit(file, has_touch=True, is_mobile=True, viewport={"width": 380, "height": 760})
    box = page.locator("#map").bounding_box()
    assert box["height"] > 250
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    for label in ("harbour", "airport"):  # first where to start, then where to go
        x, y = page.evaluate("label => hushpath.screen(label)", label)
        page.touchscreen.tap(box["x"] + x, box["y"] + y)
        ready(page)
    assert "harbour → airport" in page.locator("#answer").inner_text()
    page.locator("#start-here").tap()
    assert page.locator("#from").input_value() == "airport"


def test_dark(visit, file):
    page = visit(file, "#from=harbour", color_scheme="dark")
    ready(page)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 29)"
    page.locator("#theme").select_option("light")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_what_is_not_private_says_so_large(visit, file, tmp_path):
    write_explorer(hushpath.release(grid(), mechanism="input", **UNLIMITED), tmp_path / "x.html")
    page = visit(tmp_path / "x.html")
    assert "NOT PRIVATE" in page.locator("#mark").inner_text()
    assert page.locator("#stamp").bounding_box()["width"] > 300
    page.locator("#promise-open").click()
    assert "protects nobody" in page.locator("#promise").inner_text()
    page = visit(file)
    assert not page.locator("#mark").is_visible()
    assert not page.locator("#stamp").is_visible()


def test_names_of_strangers_are_text(visit, tmp_path):
    evil = ['</script><img src=x onerror="alert(1)">', "<b>bold</b>", "${alert(1)}", "\u202eabc", "a&b"]
    net = hushpath.Network.build(evil, [0, 1, 2, 3], [1, 2, 3, 4], [1.0] * 4)
    write_explorer(
        hushpath.release(
            net, plan=hushpath.plan(net.topology, epsilon=1, unit=1, mechanism="input", ignore_baseline=True)
        ).with_decoder(estimator="clip"),
        tmp_path / "x.html",
        title="<b>&</b>",
    )
    page = visit(tmp_path / "x.html")
    page.on("dialog", lambda dialog: pytest.fail("a name was run"))
    choose(page, "from", "<b>")
    ready(page)
    choose(page, "to", "a&b")
    assert "<b>bold</b> → a&b" in page.locator("#answer").inner_text()
    assert page.title() == "<b>&</b>"
    assert page.locator("#answer b, #title b").count() == 0


def test_the_page_forbids_requests(visit, file):
    page = visit(file)
    refused = page.evaluate("fetch('https://example.org').then(() => false, () => true)")
    assert refused
    assert "Content Security Policy" in visit.complaints[0]
    visit.complaints.clear()
    assert "default-src 'none'" in file.read_text(encoding="utf-8")


def test_a_network_without_places_gets_a_layout(visit, tmp_path):
    net = hushpath.Network.build(range(25), np.arange(24), np.arange(1, 25), np.ones(24))
    write_explorer(
        hushpath.release(
            net, plan=hushpath.plan(net.topology, epsilon=1, unit=1, mechanism="input", ignore_baseline=True)
        ).with_decoder(estimator="clip"),
        tmp_path / "x.html",
    )
    page = visit(tmp_path / "x.html", "#from=0")
    ready(page)
    assert "no coordinates" in page.locator("#layout").inner_text()
    spots = np.array([page.evaluate("label => hushpath.screen(label)", str(i)) for i in (0, 12, 24)])
    assert np.ptp(spots, axis=0).max() > 300  # a line is drawn as one
    assert np.linalg.norm(spots[1] - (spots[0] + spots[2]) / 2) < 120


def test_inside_a_notebook(visit, tmp_path, released):
    """A frame that may run scripts and nothing else, as notebooks show it."""
    (tmp_path / "x.html").write_text(f"<html data-loaded=yes><body>{released.explore('harbour')._repr_html_()}</body>")
    page = visit(tmp_path / "x.html")
    frame = page.frame_locator("iframe")
    frame.locator("html[data-ready]").wait_for(state="attached")
    assert frame.locator("#from").input_value() == "harbour"
    assert json.loads(json.dumps(released._repr_html_())).count("travel time in minutes, 2026-03") == 1


def test_mistakes_get_words(visit, file, trips_release, tmp_path):
    page = visit(file, "#from=nowhere&to=airport")
    assert "nowhere" in page.locator("#link-wrong").inner_text()
    choose(page, "from", "harbour")
    ready(page)
    page.locator("#to").fill("12")
    page.locator("#to").press("Escape")
    assert page.locator("#to").input_value() == "airport"
    page.get_by_label("Isochrones", exact=True).check()
    page.locator("#steps").fill("abc")
    assert page.locator("#steps-wrong").is_visible()
    page.locator("#steps").fill("5, 10")
    assert not page.locator("#steps-wrong").is_visible()
    said = "pair => hushpath.distance(...pair).then(() => '', error => error.message)"
    assert page.evaluate(said, ["harbour", "nowhere"]) == "unknown node: 'nowhere'"
    write_explorer(trips_release, tmp_path / "x.html")
    page = visit(tmp_path / "x.html")
    for asked in (["n00", "n01"], ["n00", "n01", "xx"]):
        assert "am, pm" in page.evaluate(said, asked)


def test_a_link_shows_what_its_sender_saw(visit, tmp_path, trips_release):
    """The scale of colours depends on the start alone, not on the path of clicks that led there."""
    write_explorer(trips_release, tmp_path / "x.html")
    page = visit(tmp_path / "x.html", "#from=n00&period=am")
    ready(page)
    page.get_by_label("pm", exact=True).check()
    page.wait_for_selector("html[data-ready='2']", state="attached")
    seen = page.locator("#legend").inner_text()
    fresh = visit(tmp_path / "x.html", page.url[page.url.index("#") :])
    ready(fresh)
    assert fresh.locator("#legend").inner_text() == seen


def test_places_near_a_start_have_its_colour(visit, file):
    page = visit(file, "#from=harbour&versus=airport")
    ready(page)
    assert [one.strip() for one in page.locator("#legend .ends span").all_inner_texts()] == [
        "nearer to airport", "equally far", "nearer to harbour"
    ]  # fmt: skip
    box = page.locator("#map").bounding_box()
    with Image.open(io.BytesIO(page.screenshot())) as picture:
        seen = picture.convert("RGB")
    strongest = {}
    for label in ("corner 0.1", "corner 11.10"):
        x, y = page.evaluate("label => hushpath.screen(label)", label)
        left, top = int(box["x"] + x) - 9, int(box["y"] + y) - 9
        colours = [colour for _, colour in seen.crop([left, top, left + 18, top + 18]).getcolors(999)]
        strongest[label] = max(colours, key=lambda colour: max(colour) - min(colour))
    assert strongest["corner 0.1"][0] > strongest["corner 0.1"][2]  # orange, as the star of the first start
    assert strongest["corner 11.10"][2] > strongest["corner 11.10"][0]  # blue, as that of the other
