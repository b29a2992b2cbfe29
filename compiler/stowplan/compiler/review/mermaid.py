"""The graph of what changed as text for Mermaid, which GitHub and GitLab draw in comments."""

import re
from collections.abc import Iterator, Sequence

from stowplan.compiler.diagnostics.escaping import visible
from stowplan.compiler.diff.wording import cut
from stowplan.compiler.review.model import ChangeKind, GraphEdge, GraphNode, NodeKind, Review

MOST_NODES = 40
_LONGEST = 60
_SIGNS = {
    ChangeKind.CREATED: "(+) ",
    ChangeKind.CHANGED: "(~) ",
    ChangeKind.REPLACED: "(!) ",
    ChangeKind.REMOVED: "(-) ",
    ChangeKind.UNCHANGED: "",
}
_SHAPES = {
    NodeKind.SOURCE: ("[/", "/]"),
    NodeKind.DATASET: ("[(", ")]"),
    NodeKind.TASK: ("([", "])"),
    NodeKind.TRAINING: ("[", "]"),
    NodeKind.OUTPUT: ("[/", "/]"),
}
_STYLES = {
    ChangeKind.CREATED: "stroke:#1a7f37,stroke-width:2px",
    ChangeKind.CHANGED: "stroke:#9a6700,stroke-width:2px",
    ChangeKind.REPLACED: "stroke:#bc4c00,stroke-width:3px",
    ChangeKind.REMOVED: "stroke:#cf222e,stroke-width:2px,stroke-dasharray:4",
    ChangeKind.UNCHANGED: "stroke:#8c959f",
}
_ITEM = re.compile(r"\s*([-+*]|\d+[.)])(?=\s|$)")
"""How an item of a list begins in Markdown. Mermaid shows an error in the place of a label that begins so."""
_UNSAFE = re.compile(r"[^\w ./:@+=,*!~()-]")


def mermaid(review: Review) -> str:
    """Return a Mermaid block with changed nodes and their neighbours, `MOST_NODES` at most; empty if none changes."""
    nodes = review.nodes_near_changes(MOST_NODES)
    if not nodes:
        return ""
    names = {node.id: f"n{index}" for index, node in enumerate(nodes)}
    return "\n".join(["```mermaid", "graph LR", *_lines(nodes, review.edges, names), "```"])


def _lines(nodes: Sequence[GraphNode], edges: Sequence[GraphEdge], names: dict[str, str]) -> Iterator[str]:
    for node in nodes:
        start, end = _SHAPES[node.part]
        yield f'  {names[node.id]}{start}"{_SIGNS[node.state]}{_safe(node.title)}"{end}'
    for edge in edges:
        if edge.start in names and edge.end in names:
            text = f'|"{_safe(edge.text)}"|' if edge.text else ""
            yield f"  {names[edge.start]} -->{text} {names[edge.end]}"
    for state, style in _STYLES.items():
        own = [names[node.id] for node in nodes if node.state is state]
        if own:
            yield f"  classDef {state.value} {style}"
            yield f"  class {','.join(own)} {state.value}"


def _safe(text: str) -> str:
    """Return a text without the characters that mean something to Mermaid, HTML or, at its begin, Markdown."""
    plain = _UNSAFE.sub("_", visible(text))
    return cut(f"_{plain}" if _ITEM.match(plain) else plain, _LONGEST)
