"""A browser without a network, and the pages that it is shown."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from stowplan.compiler.review.page.render import render
from tests.nightly.browser.changes import edited_dataset, promotion
from tests.nightly.browser.chromium import browser, needed
from tests.reviews import MARKUP, every_section

PAGES = ("dataset", "promotion", "sections", "hostile")


# One browser for each module, since Playwright's event loop is this thread's until the browser is closed:
# a test of another package that calls `asyncio.run` would fail beside it.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    needed()
    with browser() as started:
        yield started


@pytest.fixture(scope="session", params=PAGES)
def page_file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page: two of real changes, one with something in each section, one with markup in all names."""
    needed()
    folder = tmp_path_factory.mktemp("page")
    if request.param == "dataset":
        return edited_dataset(folder / "dataset").rename(folder / "dataset.html")
    if request.param == "promotion":
        return promotion(folder / "promotion").rename(folder / "promotion.html")
    file = folder / f"{request.param}.html"
    file.write_text(render(every_section(MARKUP if request.param == "hostile" else "llama")))
    return file


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where screenshots go, for people to look at: `STOWPLAN_SCREENSHOTS`, or a folder of pytest."""
    if named := os.environ.get("STOWPLAN_SCREENSHOTS"):
        Path(named).mkdir(parents=True, exist_ok=True)
        return Path(named)
    return tmp_path_factory.mktemp("screenshots")
