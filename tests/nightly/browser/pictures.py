"""The pictures of review pages in the documentation: `python -m tests.nightly.browser.pictures <folder>`."""

import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.nightly.browser.changes import edited_dataset, promotion
from tests.nightly.browser.chromium import browser

_PICTURES: dict[str, Callable[[Path], Path]] = {"review-dataset": edited_dataset, "review-promotion": promotion}
_WIDTH, _HEIGHT = 1200, 1400


def draw(folder: Path) -> None:
    """Draw the top of each page, in light and in dark."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as temporary, browser() as chromium:
        for name, make in _PICTURES.items():
            file = make(Path(temporary, name))
            page = chromium.new_page(viewport={"width": _WIDTH, "height": _HEIGHT}, color_scheme="light")
            page.goto(file.as_uri())
            page.screenshot(path=folder / f"{name}-light.png")
            page.emulate_media(color_scheme="dark")
            page.screenshot(path=folder / f"{name}-dark.png")


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
