"""The built site in a browser without a network, from a folder and from a file server, and builds that fail."""

import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from docs.build import build
from tests.nightly.browser.chromium import browser, needed
from tests.repositories import REPOSITORY

MAIN = (
    "index",
    "guides/training-jobs",
    "guides/review",
    "reference/kinds/training",
    "reference/commands",
    "reference/codes/SP201",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    assert build(folder) == 0
    return folder / "site"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    needed()
    with browser() as started:
        yield started


@pytest.mark.parametrize("link", ["nowhere.md", "guides/review.md#nowhere", "reference/kinds/dataset.md#spec-nowhere"])
def test_a_broken_link_or_anchor_fails_the_build(link: str, tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "docs/pages", tmp_path / "source/pages")
    page = tmp_path / "source/pages/index.md"
    page.write_text(f"{page.read_text()}\n[broken]({link})\n")
    assert build(tmp_path / "build", tmp_path / "source") != 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1300])
def test_main_pages_ask_no_other_host_and_have_no_errors(
    site: Path, chromium: Browser, scheme: str, width: int, pictures: Path
) -> None:
    context = chromium.new_context(
        color_scheme="dark" if scheme == "dark" else "light", viewport={"width": width, "height": 900}
    )
    page = context.new_page()
    wrong = _watched(page)
    for name in MAIN:
        page.goto((site / f"{name}.html").as_uri())
        expect(page.locator("h1").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
        page.screenshot(path=pictures / f"site-{name.replace('/', '-')}-{scheme}-{width}.png")
    context.close()
    assert wrong == []


def test_search_finds_a_page_without_a_network(site: Path, chromium: Browser, pictures: Path) -> None:
    context = chromium.new_context(offline=True, viewport={"width": 1300, "height": 900})
    page = context.new_page()
    wrong = _watched(page)
    page.goto((site / "index.html").as_uri())
    _search(page, "retire")
    expect(page.locator("a[href*='runs.html']").last).to_be_visible()
    page.screenshot(path=pictures / "site-search.png")
    context.close()
    assert wrong == []


def test_a_file_server_alone_serves_the_site_with_its_search(site: Path, chromium: Browser, server: str) -> None:
    context = chromium.new_context(viewport={"width": 1300, "height": 900})
    page = context.new_page()
    wrong = _watched(page, allowed=server)
    for name in MAIN:
        answer = page.goto(f"{server}{name}.html")
        assert answer is not None
        assert answer.ok, name
    _search(page, "lineage")
    result = page.locator("a:has(mark)").first
    expect(result).to_be_visible()
    result.click()
    expect(page.locator("h1").first).to_be_visible()
    assert page.url.startswith(server)
    context.close()
    assert wrong == []


def test_the_button_of_a_session_copies_its_commands_alone(chromium: Browser, server: str) -> None:
    context = chromium.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{server}tutorials/first-dataset.html")
    session = page.locator(".highlight", has_text="1 spec in 1 file").first
    session.hover()
    session.locator(".md-code__button").first.click()
    page.wait_for_function("navigator.clipboard.readText().then((text) => text.includes('synth'))")
    assert page.evaluate("navigator.clipboard.readText()") == "stowplan synth"
    context.close()


@pytest.fixture(scope="module")
def server(site: Path) -> Iterator[str]:
    """The address of a server of the site's files, on this machine."""
    serving = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(site)))
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{serving.server_port}/"
    serving.shutdown()
    serving.server_close()


def _search(page: Page, word: str) -> None:
    """Open the search by its key, and type once it is there."""
    field = page.get_by_role("combobox", name="Search")
    page.wait_for_load_state("networkidle")
    page.keyboard.press("/")
    expect(field).to_be_focused()
    field.fill(word)


class _Quiet(SimpleHTTPRequestHandler):
    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing about a request that went well."""


def _watched(page: Page, allowed: str = "file:") -> list[str]:
    """Return a list that gets each request to a host that is not allowed, and each error of a script."""
    wrong: list[str] = []

    def requested(request: Request) -> None:
        if request.url.startswith("http") and not request.url.startswith(allowed):
            wrong.append(request.url)

    page.on("request", requested)
    page.on("response", lambda given: wrong.append(f"{given.status} {given.url}") if given.status >= 400 else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    return wrong
