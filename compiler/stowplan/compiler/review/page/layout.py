"""Where the nodes and edges of a graph stand, as the library dagre computes it in Node.js."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stowplan.library.composition import node

_SCRIPT = Path(__file__).with_name("layout.js")
_SECONDS = 120

Point = tuple[float, float]
Size = tuple[float, float]
"""Width and height in pixels."""


@dataclass(frozen=True, slots=True)
class Line:
    """Where an edge goes, and where the middle of its text is; None without a text."""

    points: tuple[Point, ...]
    label: Point | None


@dataclass(frozen=True, slots=True)
class Layout:
    """The size of the picture, the middle of each box by id, and the line of each arrow in their order."""

    width: float
    height: float
    boxes: dict[str, Point]
    lines: tuple[Line, ...]


def layout(boxes: Mapping[str, Size], arrows: Sequence[tuple[str, str, float]]) -> Layout:
    """Return where boxes and arrows stand, in pixels; the same for the same input.

    `boxes` are the sizes of nodes by id. An arrow has the ids of its ends, and the width of its text, 0 for none.
    Raises `NodeError` without Node.js, and `subprocess.SubprocessError` if it fails.
    """
    given = {"nodes": boxes, "edges": arrows}
    done = subprocess.run(  # noqa: S603 - no shell, and the names of specs go through standard input
        [node.program(), str(_SCRIPT)],
        input=json.dumps(given),
        capture_output=True,
        check=True,
        encoding="utf-8",
        timeout=_SECONDS,
    )
    found = json.loads(done.stdout)
    lines = tuple(
        Line(tuple((x, y) for x, y in each["points"]), tuple(each["label"]) if each["label"] else None)
        for each in found["edges"]
    )
    return Layout(found["width"], found["height"], {key: (x, y) for key, (x, y) in found["nodes"].items()}, lines)
