"""The picture of what `make demo` prints, light and dark: `python docs/demo_picture.py <folder>`."""

import io
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, SVG_EXPORT_THEME
from rich.text import Text

_THEMES = {"light": DEFAULT_TERMINAL_THEME, "dark": SVG_EXPORT_THEME}
_COLUMNS = 126
_FILES = 4
"""How many lines of the list of files are shown."""

_FONT_FACE = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
"""Where Rich names fonts on the internet."""
_FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace"

_STYLES = {
    r"^\d\. .*$": "bold",
    r"^  \$ .*$": "bold cyan",
    r"\berror SP\d+": "bold red",
    r"help: .*$": "green",
    r"^  (?:replaced|changed)\b": "yellow",
}


def draw(folder: Path) -> None:
    """Run the demo, and draw what it prints."""
    demo = Path(__file__).resolve().parents[1] / "examples/demo.sh"
    printed = subprocess.run([demo], stdout=subprocess.PIPE, text=True, check=True).stdout  # noqa: S603
    for name in _THEMES:
        (folder / f"demo-{name}.svg").write_text(picture(printed, name), encoding="utf-8")


def picture(printed: str, theme: str) -> str:
    """Return the picture of these lines as SVG that asks no other host for anything. `theme` is `light` or `dark`."""
    console = Console(record=True, width=_COLUMNS, file=io.StringIO(), color_system="truecolor", force_terminal=True)
    text = Text(_shortened(printed.strip("\n")))
    for pattern, style in _STYLES.items():
        for found in re.finditer(pattern, text.plain, re.MULTILINE):
            text.stylize(style, *found.span())
    console.print(text, soft_wrap=False)
    svg = console.export_svg(title="make demo", theme=_THEMES[theme], unique_id="demo")
    svg = _FONT_FACE.sub("", svg).replace("Fira Code, monospace", _FONTS)
    # The frame of Rich is white, which cannot be seen on a light page.
    svg = svg.replace("rgba(255,255,255,0.35)", "rgba(128,128,128,0.5)")
    return "".join(f"{line.rstrip()}\n" for line in svg.splitlines())


def _shortened(printed: str) -> str:
    """Leave out the end of the long list of files."""
    head, command, rest = printed.partition("  $ ls ")
    listed, blank, tail = rest.partition("\n\n")
    lines = listed.splitlines()
    kept = lines[: 1 + _FILES] + (["  …"] if len(lines) > 1 + _FILES else [])
    return "".join((head, command, "\n".join(kept), blank, tail))


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
