"""Debian's Chromium, run by Playwright; nothing is downloaded."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

from tests.absent import skip

_NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def browser() -> Iterator[Browser]:
    """A running browser. FileNotFoundError where there is none."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        raise FileNotFoundError(f"none of {', '.join(_NAMES)} is installed")
    with sync_playwright() as playwright:
        # Chromium has no sandbox of its own for root, which is who tests run as in containers.
        started = playwright.chromium.launch(executable_path=program, chromium_sandbox=os.geteuid() != 0)
        try:
            yield started
        finally:
            started.close()


def absent() -> str:
    """Why there is no browser; empty if there is one."""
    return "" if any(map(shutil.which, _NAMES)) else f"none of {', '.join(_NAMES)} is installed"


def needed() -> None:
    """Skips a test where there is no browser; in CI it fails."""
    if reason := absent():
        skip(reason)
