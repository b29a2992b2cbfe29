"""The review page in a real Chromium without a network."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, expect

_QUESTIONS = Path(__file__).with_name("page.js").read_text()
_WIDE, _NARROW = 1400, 400
_ENOUGH = 4.5
"""Contrast that WCAG 2.2 asks of text at level AA."""

Scheme = Literal["light", "dark"]


@contextmanager
def opened(
    chromium: Browser, file: Path, *, width: int = _WIDE, scheme: Scheme = "light", scripts: bool = True
) -> Iterator[Page]:
    """The page in a new context, offline. What it asks for or complains about is an error."""
    context = chromium.new_context(
        offline=True,
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
        java_script_enabled=scripts,
        reduced_motion="reduce",
    )
    page, said = context.new_page(), []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: said.append(request.url) if request.url != file.as_uri() else None)
    try:
        page.goto(file.as_uri())
        yield page
        assert said == []
    finally:
        context.close()


def ask(page: Page, question: str) -> Any:
    return page.evaluate(f"({_QUESTIONS}).{question}")


@pytest.mark.parametrize("width", [_WIDE, _NARROW])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_is_legible_at_any_width_in_light_and_dark(
    chromium: Browser, page_file: Path, pictures: Path, width: int, scheme: Scheme
) -> None:
    with opened(chromium, page_file, width=width, scheme=scheme) as page:
        page.screenshot(path=pictures / f"{page_file.stem}-{width}-{scheme}.png", full_page=True)
        ask(page, "open()")
        assert ask(page, f"faint({_ENOUGH})") == []
        assert ask(page, "crowded()") == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_every_link_lands_without_a_script(chromium: Browser, page_file: Path) -> None:
    with opened(chromium, page_file, scripts=False) as page:
        links = page.locator("a[href]")
        targets = [links.nth(index).get_attribute("href") or "" for index in range(links.count())]
        assert len(targets) > 6
        for index, target in enumerate(targets):
            assert target.startswith("#")
            if not links.nth(index).is_visible():
                continue
            links.nth(index).focus()
            page.keyboard.press("Enter")
            expect(page).to_have_url(re.compile(re.escape(target) + "$"))
            expect(page.locator(f'[id="{target[1:]}"]')).to_be_in_viewport()


def test_keyboard_alone_reaches_and_opens_everything(chromium: Browser, page_file: Path) -> None:
    with opened(chromium, page_file) as page:
        for _ in range(2_000):
            page.keyboard.press("Tab")
            closed = ask(page, "reach()")
            if closed is None:
                break
            if closed:
                page.keyboard.press("Enter")
        assert ask(page, "unreached()") == []
        assert page.locator("details:not([open])").count() == 0
        assert page.locator("[data-ringless]").count() == 0


def test_every_picture_of_a_node_says_what_it_is(chromium: Browser, page_file: Path) -> None:
    with opened(chromium, page_file) as page:
        titles = page.locator("svg g.node title").all_text_contents()
        assert titles
        assert all(any(title.startswith(f"{part} ") for part in _PARTS) for title in titles)
        assert all(any(f", {state}" in title for state in _STATES) for title in titles)


_PARTS = ("source", "dataset", "task", "training", "output")
_STATES = ("created", "changed", "replaced", "removed", "unchanged")


def test_filter_hides_objects_without_its_words(chromium: Browser, page_file: Path) -> None:
    with opened(chromium, page_file) as page:
        objects = page.locator("#objects > details")
        count = objects.count()
        assert objects.first.is_visible()
        page.get_by_label("Show only objects with").fill("no object has this")
        assert objects.locator("visible=true").count() == 0
        page.get_by_label("Show only objects with").fill(" ")
        assert all(objects.nth(index).is_visible() for index in range(count))


def test_without_scripts_there_is_no_filter_and_all_the_rest(chromium: Browser, page_file: Path) -> None:
    with opened(chromium, page_file, scripts=False) as page:
        assert not page.locator("#filter").is_visible()
        assert page.locator("#objects > details").first.is_visible()


def test_policy_stops_what_is_not_of_the_page(chromium: Browser, page_file: Path) -> None:
    with opened(chromium, page_file) as page:
        assert page.evaluate("typeof hacked") == "undefined"
    context = chromium.new_context(offline=True)
    page = context.new_page()
    page.goto(page_file.as_uri())
    stopped = page.evaluate(
        """async () => {
            const heard = [];
            document.addEventListener("securitypolicyviolation", (event) => heard.push(event.effectiveDirective));
            const added = [["script", "text", "hacked = 1"], ["img", "src", "https://a.example/b.png"]];
            for (const [tag, key, value] of added) {
                const element = document.createElement(tag);
                element[key] = value;
                document.body.append(element);
            }
            await new Promise((resolve) => setTimeout(resolve, 200));
            return [typeof hacked, ...heard.sort()];
        }"""
    )
    context.close()
    assert stopped == ["undefined", "img-src", "script-src-elem"]
