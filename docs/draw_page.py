"""Draw the pictures of the page: `python docs/draw_page.py`, after `make demo`."""

import io
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests" / "browser"))
from tools import SWITCHES, chromium  # noqa: E402

PAGE = HERE.parent / "demo-out" / "city.html"
PICTURES = {
    "page.png": ("from=market&to=airport&period=am", {"width": 1200, "height": 740}, "light"),
    "page-steps.png": ("from=market&to=hospital&period=pm&steps=300,600,900", {"width": 1200, "height": 740}, "dark"),
    "page-phone.png": ("from=harbour&to=stadium&period=am", {"width": 390, "height": 760}, "light"),
    "page-compare.png": ("from=market&versus=stadium&to=airport&period=am", {"width": 1200, "height": 740}, "light"),
}


def main():
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium(), args=SWITCHES)
        for name, (anchor, size, scheme) in PICTURES.items():
            page = browser.new_page(viewport=size, color_scheme=scheme)
            page.goto(f"file://{PAGE.resolve()}#{anchor}&draw=webgl")
            page.wait_for_selector("html[data-ready]", state="attached")
            page.wait_for_timeout(800)
            with Image.open(io.BytesIO(page.screenshot())) as picture:
                few = picture.convert("RGB").quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
                few.save(HERE / "images" / name, optimize=True)
        browser.close()


if __name__ == "__main__":
    main()
