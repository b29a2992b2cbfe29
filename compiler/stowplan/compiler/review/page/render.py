"""Rendering of a review as one HTML page that needs no network and no script."""

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import escape

from stowplan.compiler.diagnostics.escaping import visible
from stowplan.compiler.review.markdown import verdict_line
from stowplan.compiler.review.model import ChangedObject, Review, Side
from stowplan.compiler.review.page.picture import SIGNS, picture

_FOLDER = Path(__file__).parent
_MARKUP = 40
"""Bytes around each text of a diff at most."""
MOST_BYTES = 1_500_000
"""Bytes of all diffs together; the diffs of further objects are left out, and the page says so."""
MOST = {"objects": 1000, "entries": 200}
"""Objects of a page, and entries of each other list; the page says how many more there are."""


def render(review: Review) -> str:
    """Return the page as HTML. Raises what `layout` raises."""
    listed = review.objects[: MOST["objects"]]
    targets = {each.path: f"object-{index}" for index, each in enumerate(listed)}
    style, script = ((_FOLDER / name).read_text(encoding="utf-8") for name in ("style.css", "filter.js"))
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
        shown=_shown(listed),
        most=MOST,
        signs=SIGNS,
        side=Side,
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
    )


def _shown(objects: Sequence[ChangedObject]) -> frozenset[str]:
    """Return the paths of the objects whose diffs fit on the page, in the order of the review."""
    left, found = MOST_BYTES, []
    for each in objects:
        size = _size(each)
        if size <= left:
            left -= size
            found.append(each.path)
    return frozenset(found)


def _size(shown: ChangedObject) -> int:
    """Return how many bytes the diff of an object takes on the page, with the origins of its values; a little more."""
    texts = [line.text for line in shown.lines]
    for leaf in shown.leaves:
        origins = [each.text + (each.place.file if each.place else "") for each in leaf.origins]
        texts += [leaf.path, leaf.before, leaf.after, *origins]
    return sum(len(escape(visible(text)).encode()) + _MARKUP for text in texts)


def _hash(text: str) -> str:
    """Return the hash by which a Content-Security-Policy allows an inline style or script."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
