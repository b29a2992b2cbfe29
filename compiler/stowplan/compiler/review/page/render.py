"""Rendering of a review as one HTML page that needs no network and no script."""

from base64 import b64encode
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from stowplan.compiler.diagnostics.escaping import visible
from stowplan.compiler.review.markdown import verdict_line
from stowplan.compiler.review.model import Review, Side
from stowplan.compiler.review.page.picture import SIGNS, picture

_FOLDER = Path(__file__).parent
MOST_BYTES = 1_500_000
"""Bytes of all diffs together; the diffs of further objects are left out, and the page says so."""


def render(review: Review) -> str:
    """Return the page."""
    targets = {each.path: f"object-{index}" for index, each in enumerate(review.objects)}
    style, script = ((_FOLDER / name).read_text() for name in ("style.css", "filter.js"))
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["visible"] = visible
    return environment.get_template("page.html").render(
        review=review,
        verdict=verdict_line(review),
        picture=picture(review, targets),
        targets=targets,
        shown=_shown(review),
        signs=SIGNS,
        side=Side,
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
    )


def _shown(review: Review) -> frozenset[str]:
    """Return the paths of the objects whose diffs fit on the page, in the order of the review."""
    left, found = MOST_BYTES, []
    for each in review.objects:
        size = sum(len(line.text.encode()) + 60 for line in each.lines)
        if size > left:
            continue
        left -= size
        found.append(each.path)
    return frozenset(found)


def _hash(text: str) -> str:
    """Return the hash by which a Content-Security-Policy allows an inline style or script."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
