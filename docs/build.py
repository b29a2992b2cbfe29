"""Builds the site: `python docs/build.py <folder>` puts pages, reference and site below the folder.

A link of a page to a file outside of `docs/pages` has no target on the site. It becomes its text and the path of the
file.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(_HERE.parent))

from docs.reference.__main__ import write  # noqa: E402 - found in the repository only now

_SHIM = "https://unpkg.com/iframe-worker/shim"
"""What the generator loads so that the search works in pages that are opened from a folder. `docs` has a copy."""

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?\)")


def build(folder: Path, source: Path = _HERE) -> int:
    """Build the site of `source` in `folder`/site, and return the exit code of the generator."""
    shutil.rmtree(folder, ignore_errors=True)
    pages = folder / "pages"
    shutil.copytree(source / "pages", pages)
    shutil.copy(_HERE / "zensical.toml", folder)
    for file in pages.rglob("*.md"):
        text = file.read_text(encoding="utf-8")
        file.write_text(_inside(text, file, pages), encoding="utf-8")
    write(pages)
    command = [str(Path(sys.executable).with_name("zensical")), "build", "--clean", "--strict"]
    code = subprocess.run(command, cwd=folder, check=False).returncode  # noqa: S603 - its arguments are constants
    if not code:
        _bring_shim(folder / "site")
        sys.stdout.write(f"Open {folder / 'site' / 'index.html'}\n")
    return code


def _bring_shim(site: Path) -> None:
    """Let all pages load the copy of the shim, so that they ask no other host for anything."""
    shutil.copy(_HERE / "iframe-worker.js", site / "assets")
    for file in site.rglob("*.html"):
        path = os.path.relpath(site / "assets/iframe-worker.js", file.parent)
        file.write_text(file.read_text(encoding="utf-8").replace(_SHIM, path), encoding="utf-8")


def _inside(text: str, file: Path, pages: Path) -> str:
    """Return a page in which only links to other pages are left."""

    def replaced(link: re.Match[str]) -> str:
        place = Path(os.path.normpath(file.parent / link[2]))
        if place.is_relative_to(pages):
            return link[0]
        original = _HERE / "pages" / file.relative_to(pages).parent / link[2]
        path = Path(os.path.normpath(original)).relative_to(_HERE.parent).as_posix()
        return link[1] if link[1].strip("`") == path else f"{link[1]} (`{path}`)"

    return _LINK.sub(replaced, text)


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1]).resolve()))
