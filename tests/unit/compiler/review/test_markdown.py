"""A review as a comment: what it says, how long it may be, and that names of users are only text."""

import re
from dataclasses import replace

import pytest

from stowplan.compiler.diff.change import Action, Change
from stowplan.compiler.diff.markdown import LIMIT
from stowplan.compiler.review.markdown import MOST_ENVIRONMENTS, MOST_LINES, comment
from stowplan.compiler.review.mermaid import MOST_NODES, mermaid
from stowplan.compiler.review.model import ChangeKind, GraphNode, NodeKind
from stowplan.schema.meta import ObjectId
from tests.reviews import MARKUP, every_section

GITHUB = 65_536
NONE: dict[str, list[Change]] = {}


def test_the_comment_begins_with_what_is_at_stake() -> None:
    text = comment(every_section(), NONE)
    verdict = "1 run ends, 1 run ends and starts again, 1 run starts; 1 warning about security; 1 warning about data"
    assert text.startswith(f"### Stowplan\n\n**{verdict}; 1 right added**\n")
    assert "- **ends and starts again**: training of `Training ml/llama` (`specs/llama.yaml:7`)" in text
    assert "| GPUs nvidia.com/gpu | 8 | 16 |" in text
    assert "GPU-hours at most" not in text, "a number that stays the same"
    assert "ml/llama with llama, not in this repository" in text


def test_the_comment_explains_the_signs_of_the_graph() -> None:
    text = comment(every_section(), NONE)
    graph = text.index("```mermaid")
    assert "In the graph, `(+)` is created, `(~)` changed, `(!)` replaced, `(-)` removed." in text[graph:]
    unchanged = replace(every_section(), nodes=())
    assert "In the graph" not in comment(unchanged, NONE)


def test_a_run_is_told_in_sentences() -> None:
    few = every_section()
    run = replace(few.verdict.runs[0], reasons=("a: 2 → 3", "b: 1 → 2"), effects=("It asks for 8 b/gpu.", "It ends."))
    found = replace(few, verdict=replace(few.verdict, runs=(run,)))
    assert ": a: 2 → 3; b: 1 → 2. It asks for 8 b/gpu. It ends.\n" in comment(found, NONE)


def test_the_comment_says_where_the_page_is() -> None:
    assert "The page is over there." in comment(every_section(), NONE, page="The page is over there.")


def test_names_of_users_cannot_end_the_graph_or_bring_markup() -> None:
    hostile = f'{MARKUP}"]\n```\n# Head @team click n0 "javascript:x" %%{{init}}%% ; --> '
    text = comment(every_section(hostile), NONE)
    plain = comment(every_section(), NONE)
    assert text.count("```") == plain.count("```") == 2
    assert "\n# Head" not in text
    outside = re.sub(r"`[^`\n]*`", "", text)
    assert not re.search(r"(?<!\\)<(?!!-- -->)", outside)
    graph = mermaid(every_section(hostile))
    assert len(graph.splitlines()) == len(mermaid(every_section()).splitlines())
    assert not any(each in graph for each in ("<", ";", "%%", "@", '"]"'))


@pytest.mark.parametrize("state", ChangeKind)
@pytest.mark.parametrize("title", ["x", "- x", "+ x", "* x", "1. x", "2) x", "-\tx", "-"])
def test_no_label_of_the_graph_is_a_list_of_markdown(title: str, state: ChangeKind) -> None:
    """Mermaid shows an error in the place of such a label."""
    found = every_section()
    nodes = tuple(replace(each, title=title, state=state) for each in found.nodes)
    edges = tuple(replace(each, text=title) for each in found.edges)
    labels = re.findall(r'"(.*)"', mermaid(replace(found, nodes=(*nodes, *every_section().nodes), edges=edges)))
    assert len(labels) > len(edges)
    assert not [each for each in labels if re.match(r"\s*([-+*]|\d+[.)])(\s|$)", each)]


def test_the_comment_fits_into_one_of_github_however_large_the_change_is() -> None:
    few = every_section("x" * 400)
    many = replace(
        few,
        verdict=replace(few.verdict, runs=few.verdict.runs * 300, data=few.verdict.data * 300),
        nodes=tuple(
            GraphNode(f"n{each}", NodeKind.TASK, "x" * 400, (), ChangeKind.CREATED, None, ()) for each in range(300)
        ),
        pins=few.pins * 300,
        secrets=few.secrets * 300,
        figures=few.figures * 300,
    )
    text = comment(many, NONE)
    assert len(text) <= LIMIT < GITHUB
    assert f"and {900 - MOST_LINES} more runs" in text
    assert mermaid(many).count("(+) x") == MOST_NODES


def test_the_comment_has_the_changes_of_as_many_environments_as_fit() -> None:
    found = {
        f"env-{index}": [
            Change(Action.CREATED, f"{each}.yaml", f"{index}.yaml", None, ObjectId("", "Job", "ml", "x" * 63))
            for each in range(99)
        ]
        for index in range(MOST_ENVIRONMENTS + 3)
    }
    text = comment(every_section(), found | {"twin": found["env-0"]})
    assert len(text) <= LIMIT
    assert text.count("99 objects: 99 created") == MOST_ENVIRONMENTS
    assert "### env-0, twin: " in text
    assert "3 more environments did not fit into this comment." in text


def test_sections_that_do_not_fit_are_counted() -> None:
    text = comment(every_section(), NONE, limit=1800)
    assert len(text) <= 1800
    assert "did not fit into this comment." in text
    assert text.count("```") % 2 == 0
