"""No string and no bytes make the reader raise, and all its positions are inside the source."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stowplan.compiler.diagnostics.document import Document, Node
from stowplan.compiler.diagnostics.locations import LINE_BREAK, Mark
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.environments.target import Target
from stowplan.compiler.repository.layout import Repository
from stowplan.compiler.repository.load import Checkout
from stowplan.compiler.yaml.reader import read
from stowplan.schema.codes import CATALOGUE

SIGNS = list("ab1yé~:?-[]{},&*!|>%@`#'\"\\\t\r\n\0 \x85\u2028\ufeff\U0001f600")
WORDS = '0x1 1.5 .inf <<: --- ... &x *x <<: *x !!str !!int !foo \'q\' "\\u00e9" "\\ud800"'.split()
LINES = [
    *["a: ", "b: ", "- ", "? ", ": ", "\n  ", "\n    ", "\r\n", "|\n  t\n", "> f\n", "# c\n", "\n---\n", "\n...\n"],
    *["%YAML 1.1\n", "%TAG ! a\n", "key: &y {p: 1, q: [2]}\n", "m: {<<: *y, r: 3}\n", "n: *y\n", "&x [*x]"],
]
YAML_LIKE = st.lists(st.sampled_from(SIGNS + WORDS + LINES), max_size=40).map("".join)
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
LINE_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn", "Zl", "Zp"]))


def plain_data(text: st.SearchStrategy[str]) -> st.SearchStrategy[object]:
    floats = st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: not x.is_integer())
    scalar = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | floats | text
    return st.recursive(scalar, lambda inner: st.lists(inner) | st.dictionaries(text, inner), max_leaves=20)


def nodes(node: Node) -> Iterator[Node]:
    yield node
    below = node.children.values() if isinstance(node.children, dict) else node.children
    for child in below:
        yield from nodes(child)


def assert_inside(mark: Mark, lines: list[str]) -> None:
    assert 1 <= mark.line <= len(lines), mark
    assert 1 <= mark.column <= len(lines[mark.line - 1]) + 1, mark


def assert_mirrors(node: Node) -> None:
    """Assert that the data is plain JSON and equals that of the nodes."""
    if isinstance(node.data, dict):
        assert isinstance(node.children, dict)
        assert {key: child.data for key, child in node.children.items()} == node.data
    elif isinstance(node.data, list):
        assert isinstance(node.children, list)
        assert [child.data for child in node.children] == node.data
    else:
        assert not node.children


def check(text: str) -> list[Document]:
    documents, diagnostics = read(text, "f")
    lines = LINE_BREAK.split(text.removeprefix("\ufeff"))
    for found in diagnostics:
        assert found.code in CATALOGUE
        assert found.message.isprintable(), found.message
        assert found.hint.isprintable(), found.hint
        assert_inside(Mark(found.location.line, found.location.column), lines)
    for document in documents:
        json.dumps(document.data, allow_nan=False)
        assert repr(document.root.data) == repr(document.data)
        for node in nodes(document.root):
            assert_inside(node.mark, lines)
            assert_inside(node.key_mark, lines)
            assert_mirrors(node)
    return documents


@settings(max_examples=300)
@given(YAML_LIKE)
@example("a: \U0001f600\n'")
@example("a: 'x\u2028\n")
@example("\ufeff\ufeffa: [")
def test_strings_like_yaml_are_read_or_refused(text: str) -> None:
    check(text)


@settings(max_examples=300)
@given(st.text())
@example("\ud800")
@example("\uffff")
def test_any_string_is_read_or_refused(text: str) -> None:
    check(text)


@settings(max_examples=100)
@given(plain_data(TEXT))
def test_quoted_output_of_pyyaml_is_read_back(value: object) -> None:
    documents, diagnostics = read(yaml.safe_dump({"a": value}, default_style='"'), "f")
    assert (diagnostics, [document.root.data for document in documents]) == ([], [{"a": value}])


@settings(max_examples=100)
@given(plain_data(LINE_TEXT))
def test_json_is_yaml(value: object) -> None:
    documents, diagnostics = read(json.dumps({"a": value}, ensure_ascii=False), "f")
    assert (diagnostics, [document.root.data for document in documents]) == ([], [{"a": value}])


@settings(max_examples=300)
@given(
    st.lists(
        st.sampled_from([*"ab1y~:-[]{},' \n", "a: ", "- ", "\n  ", "\n---\n", ": ", "! ", "'q'", "1.5"]), max_size=12
    )
)
def test_short_strings_are_read_or_refused(parts: list[str]) -> None:
    check("".join(parts))


@settings(max_examples=100)
@given(st.lists(YAML_LIKE.map(str.encode) | st.binary(max_size=60), max_size=4).map(b"".join))
def test_any_bytes_make_a_file_that_is_read_or_refused(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder)
        (repo / "specs").mkdir()
        (repo / "specs" / "a.yaml").write_bytes(content)
        (repo / "stowplan.yaml").write_bytes(content)
        report, checkout = Report(), Checkout(Repository(repo))
        checkout.sources(Target.whole(checkout.platform), report)
    for found in report.diagnostics:
        text = checkout.texts.get(found.location.file, "")
        assert_inside(Mark(found.location.line, found.location.column), LINE_BREAK.split(text))
