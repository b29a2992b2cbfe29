"""The graph of a review as an SVG picture with text, links and one class for each state."""

from dataclasses import dataclass

from stowplan.compiler.diff.wording import cut
from stowplan.compiler.review.model import ChangeKind, GraphEdge, GraphNode, Review
from stowplan.compiler.review.page.layout import Line, Point, Size, layout

MOST_NODES = 150
"""Nodes of a picture. A larger graph shows the changed nodes and their neighbours only, and then the changed first."""
_LONGEST = 38
_LETTER, _SMALL = 7.4, 6.3
"""Width in pixels of a character of a title and of a fact. Fonts differ, so each text is stretched to its width."""
_LINE, _PADDING = 16, 10


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text in a node: `x` and `y` are where it begins, and `length` is its width, all in pixels."""

    x: float
    y: float
    length: float
    text: str


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """A node of the picture, with its upper left corner; `target` is the id of what it links to, empty for none."""

    node: GraphNode
    target: str
    x: float
    y: float
    width: float
    height: float
    title: Text
    facts: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    """An arrow of the picture: the path of its line, and its text at a place."""

    edge: GraphEdge
    path: str
    label: Text | None


@dataclass(frozen=True, slots=True)
class Picture:
    """The picture, its size in pixels. It leaves out `unchanged` nodes that do not change, and `left_out` that do."""

    width: float
    height: float
    nodes: tuple[DrawnNode, ...]
    edges: tuple[DrawnEdge, ...]
    unchanged: int
    left_out: int


SIGNS = {
    ChangeKind.CREATED: "+",
    ChangeKind.CHANGED: "~",
    ChangeKind.REPLACED: "!",
    ChangeKind.REMOVED: "−",  # noqa: RUF001 - a minus sign, as wide as the plus
    ChangeKind.UNCHANGED: "",
}
"""Signs of the states, so that nobody needs to see colours."""


def picture(review: Review, targets: dict[str, str]) -> Picture:
    """Return the picture of a review. `targets` are the ids of the elements for the diffs, by path of the object."""
    known = {each.id for each in review.nodes_near_changes(MOST_NODES)}
    nodes = [each for each in review.nodes if each.id in known]
    edges = [each for each in review.edges if each.start in known and each.end in known]
    sizes = {each.id: _size(each) for each in nodes}
    placed = layout(sizes, [(each.start, each.end, len(each.text) * _SMALL) for each in edges])
    drawn = tuple(_node(each, sizes[each.id], placed.boxes[each.id], _target(each, targets)) for each in nodes)
    lines = tuple(_edge(each, line) for each, line in zip(edges, placed.lines, strict=True))
    missing = [each.state is ChangeKind.UNCHANGED for each in review.nodes if each.id not in known]
    return Picture(placed.width, placed.height, drawn, lines, missing.count(True), missing.count(False))


def _size(node: GraphNode) -> Size:
    widths = [(len(_title(node))) * _LETTER, *(len(cut(fact, _LONGEST)) * _SMALL for fact in node.lines)]
    return max(widths) + 2 * _PADDING, _LINE * (1 + len(node.lines)) + 2 * _PADDING - 2


def _title(node: GraphNode) -> str:
    sign = SIGNS[node.state]
    return f"{sign} {cut(node.title, _LONGEST)}" if sign else cut(node.title, _LONGEST)


def _node(node: GraphNode, size: Size, middle: Point, target: str) -> DrawnNode:
    (x, y), (width, height) = (round(at - side / 2, 1) for at, side in zip(middle, size, strict=True)), size
    title = _title(node)
    facts = tuple(
        Text(x + _PADDING, round(y + _PADDING + 11 + _LINE * (index + 1), 1), len(fact) * _SMALL, fact)
        for index, fact in enumerate(cut(each, _LONGEST) for each in node.lines)
    )
    head = Text(x + _PADDING, round(y + _PADDING + 11, 1), len(title) * _LETTER, title)
    return DrawnNode(node, target, x, y, round(width, 1), round(height, 1), head, facts)


def _target(node: GraphNode, targets: dict[str, str]) -> str:
    return next((targets[path] for path in node.objects if path in targets), "")


def _edge(edge: GraphEdge, line: Line) -> DrawnEdge:
    first, *rest = line.points
    path = f"M{_pair(first)}" + "".join(f"L{_pair(each)}" for each in rest)
    label = None
    if edge.text and line.label:
        length = len(edge.text) * _SMALL
        label = Text(round(line.label[0] - length / 2, 1), round(line.label[1] + 4, 1), length, edge.text)
    return DrawnEdge(edge, path, label)


def _pair(point: Point) -> str:
    return f"{point[0]:g} {point[1]:g}"
