"""The page of a review: its texts, its limits, and what it lets a browser do."""

import re
import time
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser

from stowplan.compiler.review.model import ChangeKind, GraphNode, NodeKind, Review
from stowplan.compiler.review.page.picture import MOST_NODES, SIGNS
from stowplan.compiler.review.page.render import MOST, render
from tests.reviews import MARKUP, changed, every_section

EMPTY = replace(
    every_section(),
    figures=(),
    nodes=(),
    edges=(),
    steps=(),
    matrix=None,
    hazards=(),
    pins=(),
    secrets=(),
    objects=(),
)


class Tags(HTMLParser):
    """The tags of a page with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_same_review_gives_the_same_bytes() -> None:
    assert render(every_section()) == render(every_section())


def test_names_of_users_are_text() -> None:
    plain, hostile = Tags(render(every_section())), Tags(render(every_section(MARKUP)))
    assert [tag for tag, _ in hostile.tags] == [tag for tag, _ in plain.tags]
    assert not any(key.startswith("on") for _, attributes in hostile.tags for key in attributes)
    assert MARKUP in hostile.text


def test_invisible_characters_are_shown() -> None:
    page = render(every_section("a\u202eb"))
    assert "\u202e" not in page
    assert "a\\u202eb" in page


def test_policy_allows_the_style_and_the_script_of_the_page_and_nothing_else() -> None:
    page = render(every_section())
    policy = next(each["content"] for tag, each in Tags(page).tags if each.get("http-equiv"))
    assert policy is not None
    for tag in ("style", "script"):
        [content] = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = b64encode(sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert " style=" not in page


def test_ids_are_unique_and_every_link_has_its_target() -> None:
    tags = Tags(render(every_section("verdict"))).tags
    ids = [each["id"] for _, each in tags if "id" in each]
    links = [each["href"] for tag, each in tags if tag == "a"]
    assert len(ids) == len(set(ids))
    assert len(links) > 10
    assert all(link and link.startswith("#") and link[1:] in ids for link in links)


def test_each_state_has_a_sign_and_a_word() -> None:
    page = render(every_section())
    for state in ChangeKind:
        assert f"{state.value}" in Tags(page).text
        assert f"{SIGNS[state]} llama".strip() in page


def test_change_of_nothing_has_a_page() -> None:
    text = Tags(render(EMPTY)).text
    assert "Nothing in the graph changes." in text
    assert "No object changes." in text
    assert "No risk is known." in text


def test_unchanged_nodes_far_from_a_change_are_counted() -> None:
    far = tuple(
        GraphNode(f"far {index}", NodeKind.TASK, "far", (), ChangeKind.UNCHANGED, None, ()) for index in range(12)
    )
    page = render(replace(every_section(), nodes=every_section().nodes + far))
    assert "12 unchanged nodes are not drawn." in page
    assert ">far<" not in page


def test_nodes_beyond_the_limit_are_counted() -> None:
    many = tuple(
        GraphNode(f"n{index}", NodeKind.TASK, f"n{index}", (), ChangeKind.CREATED, None, ())
        for index in range(MOST_NODES + 7)
    )
    assert "7 changed nodes are left out" in render(replace(EMPTY, nodes=many))


def test_page_of_500_changed_objects_is_below_2_mb_and_made_in_5_seconds() -> None:
    begun = time.monotonic()
    page = render(_large(500, lines=120))
    assert time.monotonic() - begun < 5
    assert len(page.encode()) < 2_000_000
    assert page.count("The diff is left out") > 10
    assert page.count("<details") == 500


def test_page_of_any_number_of_objects_says_how_many_are_left_out() -> None:
    page = render(_large(MOST["objects"] + 400, lines=20))
    assert len(page.encode()) < 4_000_000
    assert "400 more objects are left out" in page
    assert f"{MOST['objects'] + 400 - MOST['entries']} more runs are left out" in page


def _large(count: int, *, lines: int) -> Review:
    few = every_section()
    return replace(
        few,
        objects=tuple(changed(f"ml/{index}.yaml", f'name-"{index}"', lines=lines) for index in range(count)),
        verdict=replace(few.verdict, runs=few.verdict.runs[:1] * count),
        hazards=few.hazards * count,
        secrets=few.secrets * count,
    )
