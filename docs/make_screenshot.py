"""Makes docs/pictures/report.png: the verdict in light and the explorer in dark, side by side.

make demo && python docs/make_screenshot.py runs/demo/report.html

Needs Chromium; set in Inter where that font is installed.
"""

import io
import pathlib
import shutil
import sys

from PIL import Image
from playwright.sync_api import sync_playwright

WIDTH, HEIGHT, COLOURS = 1010, 1180, 224


def main(report: pathlib.Path) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        parts = []
        for theme in ("light", "dark"):
            viewport = {"width": WIDTH, "height": HEIGHT}
            page = browser.new_page(viewport=viewport, color_scheme=theme, reduced_motion="reduce")
            page.goto(report.resolve().as_uri())
            if theme == "dark":
                page.locator("select.problem").select_option("3")
                page.locator(".explorer").focus()
                for _ in range(3):
                    page.keyboard.press("ArrowRight")
                page.evaluate("document.activeElement.blur()")
                page.evaluate("document.getElementById('explore').scrollIntoView()")
            page.wait_for_timeout(300)
            parts.append(Image.open(io.BytesIO(page.screenshot())))
        browser.close()
    both = Image.new("RGB", (2 * WIDTH, HEIGHT))
    for number, part in enumerate(parts):
        both.paste(part, (number * WIDTH, 0))
    small = both.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    small.save(pathlib.Path(__file__).parent / "pictures" / "report.png", optimize=True)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
