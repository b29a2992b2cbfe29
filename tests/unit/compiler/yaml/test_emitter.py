"""The emitter: every reader reads back the same data, and the format is kubectl's."""

import io
import math
from enum import StrEnum
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from stowplan.compiler.diagnostics.escaping import visible
from stowplan.compiler.yaml.emitter import emit, quoted

WORDS = """
y Y yes Yes YES n N no No NO on On ON off Off OFF true True TRUE false False FALSE yEs null Null NULL
nUll ~ nil None 0 -0 +1 -1 012 0o755 0O17 0755 08 0x1F 0X1f 0b11 1_000 0x_1 _1 1:30 12:30:45 190:20:30
-190:20:30.15 1:2 24:00 0. .5 5. 1.5 1.5.6 10.0.0.1 1e3 1E5 1e+3 1.e+3 .5e-3 1e400 0x1p-2 1.2e 12e03
123e4567 4d5e6f 1E 0x 0o8 1,000 .inf -.inf +.inf .Inf .INF .nan .NaN .NAN inf -inf nan NaN infinity
2020-01-01 2020-1-1 2001-12-14t21:59:43.10-05:00 2020-01-01T10:00:00Z 20200101 2020-W01 = << ! !!str !x &
&a * *a - -- --- ---x ... ...x .... -x --x ? ?x : :x @ @x ` % %x , [ ] { } [] {} # #x | > |- ' " \\ / //
\\n 'x' "x" a'b a"b a,b a[b] a{b}c $(POD_NAME) ${X} (a) ^a$ +x _ . .. ; ~/x a=b a:b a::b a: :a a# a#b
9223372036854775807 9223372036854775808 18446744073709551616 9007199254740993 -9223372036854775809
""".split()
ODD = [
    "",
    " ",
    "  ",
    " a",
    "a ",
    "a  b",
    "a: b",
    "a :b",
    "a #b",
    "# a",
    "- a",
    "? a",
    ": a",
    "! a",
    "--- a",
    "... a",
    "2001-12-14 21:59:43.10 -5",
    "\t",
    "a\tb",
    "\ta",
    "a\t",
    "a\t# b",
    "\n",
    "\n\n",
    "a\n",
    "a\n\n",
    "a\n\n\n",
    "a\nb",
    "\na",
    " \na",
    "a\n \nb",
    "a\n b",
    " a\nb",
    "  a\n b\n",
    "\ta\nb",
    "a\n\tb",
    "a\n\n\tb\n",
    "a\n\t\nb",
    "a \nb",
    "a\t\nb",
    "a\nb ",
    "a\n---\nb",
    "a\n...\n",
    "---\na",
    "# a\nb",
    "a\n# b",
    "a: b\nc: d\n",
    "- a\n- b\n",
    "%YAML 1.1\na",
    "a\r\nb\r\n",
    "a\rb",
    "\r",
    "a\x85b",
    "a\u2028b\n",
    "a\u2029b",
    "\ufeff",
    "\ufeffa",
    "a\ufeffb\nc",
    "\x00",
    "\x07\x08\x1b[31m",
    "a\x7fb",
    "a\x9fb\nc",
    "\xa0a",
    "a\u200bb",
    "a\u202eb",
    "\ufffe",
    "\uffff\nx",
    "\ufdd0",
    "\U0001fffe",
    "\U0010ffff",
    "é",
    "e\u0301",
    "数据集",
    "数据\n集\n",
    "😀",
    "👩\u200d💻",
    "\U000e0041",
    "x" * 2000,
    "x " * 2000 + "x",
    ("y" * 300 + "\n") * 3,
    "word " * 300,
    "\\" * 600,
    "\x01" * 200,
    "\U0001fffe" * 120,
    "# +argocd:skip-file-rendering",
    "a\n+argocd:skip-file-rendering\n",
]
AMBIGUOUS = WORDS + ODD

TEXT = st.one_of(
    st.sampled_from(AMBIGUOUS),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.text(st.sampled_from(" \t\n\r-:#?,[]{}&*!|>'\"%@`~=<.0123456789_abefnoxyz\\é\u2028\x85\ufeff😀")),
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXT,
)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
BODIES = st.dictionaries(st.one_of(TEXT, st.sampled_from(["apiVersion", "kind", "metadata"])), DATA, max_size=4)


def read_1_1(text: str) -> Any:
    """Read as PyYAML on libyaml does, by YAML 1.1."""
    return yaml.load(text.encode(), Loader=yaml.CSafeLoader)


def read_1_2(text: str) -> Any:
    """Read as ruamel's own parser does, by YAML 1.2."""
    return YAML(typ="safe", pure=True).load(io.BytesIO(text.encode()))


def same(left: Any, right: Any) -> bool:
    """Equal in type too, so that 1, 1.0 and True differ, and 0.0 from -0.0."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float):
        return left == right and math.copysign(1, left) == math.copysign(1, right)
    return bool(left == right)


def assert_round_trip(body: dict[str, Any]) -> None:
    text = emit(body)
    assert same(read_1_1(text), body), text
    assert same(read_1_2(text), body), text


def test_a_string_is_read_back_as_key_value_and_item() -> None:
    for scalar in AMBIGUOUS:
        assert_round_trip(
            {
                scalar: scalar,
                "list": [scalar, [scalar, [scalar]], {scalar: [scalar]}],
                "map": {scalar: {scalar: {}}},
            }
        )


@settings(max_examples=200)
@given(BODIES)
@example({"x" * 1500: {"a": [1, {"y" * 1500: []}]}, "z" * 1500: [["w"], {"v" * 1500: {"u" * 1500: "a\n"}}]})
@example({"metadata": {"name": "a\nb\n", "labels": {"y": "n"}, "x": []}, "kind": {}, "apiVersion": []})
def test_any_plain_data_is_read_back_by_both_versions_of_yaml(body: dict[str, Any]) -> None:
    assert_round_trip(body)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1e3, "1000.0"),
        (1e16, "1.0e+16"),
        (1e21, "1.0e+21"),
        (1.5e300, "1.5e+300"),
        (5e-324, "5.0e-324"),
        (1e-5, "1.0e-05"),
        (-0.0, "-0.0"),
        (0.1, "0.1"),
        (2**53 + 1, "9007199254740993"),
        (2**64, "18446744073709551616"),
        (True, "true"),
        (None, "null"),
    ],
)
def test_numbers_have_a_form_that_both_versions_of_yaml_know(number: object, text: str) -> None:
    assert emit({"a": number}) == f"a: {text}\n"
    assert_round_trip({"a": number, "b": [number]})


@pytest.mark.parametrize(
    "word", [*"yYnN", "yes", "No", "on", "ON", "off", "0o755", "012", "1_000", "1:30", "1e3", "=", "<<"]
)
def test_words_that_go_yaml_takes_for_another_type_are_quoted(word: str) -> None:
    """go-yaml reads `y` and `on` as booleans where a field is one, and `<<` merges (resolve.go, v2, v3)."""
    assert emit({"a": {word: word}, "b": [word]}) == f'a:\n  "{word}": "{word}"\nb:\n- "{word}"\n'


@pytest.mark.parametrize(
    "text",
    [
        "registry/image:1.36",
        "s3://bucket/a b",
        "-c",
        "--flag=x,y",
        "100Gi",
        "500m",
        "10.0.0.0/8",
        "$(POD_NAME)",
        "a/b_c.d",
        "30s",
    ],
)
def test_ordinary_words_of_manifests_are_plain(text: str) -> None:
    assert emit({"a": text}) == f"a: {text}\n"


def test_keys_come_in_the_order_people_expect_and_else_by_code_point() -> None:
    body = {
        "spec": {"b": 1, "a": 2, "B": 3, "kind": 4, "é": 5},
        "data": {},
        "metadata": {
            "annotations": {"z": "1", "a": "2"},
            "finalizers": [],
            "labels": {},
            "namespace": "n",
            "name": "x",
        },
        "kind": "K",
        "apiVersion": "v1",
    }
    assert emit(body) == (
        "apiVersion: v1\nkind: K\n"
        'metadata:\n  name: x\n  namespace: "n"\n  labels: {}\n'
        '  annotations:\n    a: "2"\n    z: "1"\n  finalizers: []\n'
        'data: {}\nspec:\n  B: 3\n  a: 2\n  b: 1\n  kind: 4\n  "é": 5\n'
    )


def test_lists_are_indented_as_kubectl_prints_them() -> None:
    body = {"a": [{"b": ["c", ["d", {"e": {}, "f": 1}]], "g": {"h": []}}, [], {}]}
    assert emit(body) == ("a:\n- b:\n  - c\n  - - d\n    - e: {}\n      f: 1\n  g:\n    h: []\n- []\n- {}\n")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("#!/bin/sh\nset -e\n\n  indented\n", "a: |\n  #!/bin/sh\n  set -e\n\n    indented\n"),
        ("a\nb", "a: |-\n  a\n  b\n"),
        ("a\n\n", "a: |+\n  a\n\n"),
        ("a\n\tb\n", "a: |\n  a\n  \tb\n"),
        (" a\nb\n", 'a: " a\\nb\\n"\n'),
        ("a \nb\n", 'a: "a \\nb\\n"\n'),
        ("a\t\nb\n", 'a: "a\\t\\nb\\n"\n'),
        ("a\nb ", 'a: "a\\nb "\n'),
        ("a\nb\t", 'a: "a\\nb\\t"\n'),
        ("a\r\nb\r\n", 'a: "a\\r\\nb\\r\\n"\n'),
        ("\n", 'a: "\\n"\n'),
    ],
)
def test_lines_are_a_literal_block_where_nothing_in_them_is_invisible(value: str, text: str) -> None:
    assert emit({"a": value}) == text


def test_an_object_used_twice_is_written_twice() -> None:
    shared = {"x": [1]}
    assert emit({"a": shared, "b": shared}) == "a:\n  x:\n  - 1\nb:\n  x:\n  - 1\n"


@pytest.mark.parametrize("text", ["\x1b[31m", "a\u202eb", "\u2028", "\ufeff", "a\u200bb", "\U000e0041", "\x85", "a\rb"])
def test_invisible_characters_are_escaped(text: str) -> None:
    assert emit({"a": text, text: 1}).replace("\n", "").isprintable()


@pytest.mark.parametrize("key", ["a", "+argocd:skip-file-rendering"])
@pytest.mark.parametrize("value", ["+argocd:skip-file-rendering", "x +argocd:skip-file-rendering\ny\n"])
def test_no_value_makes_argo_cd_leave_the_file_out(key: str, value: str) -> None:
    assert "+argocd:skip-file-rendering" not in emit({key: value})


def test_an_empty_body_is_an_empty_mapping() -> None:
    assert emit({}) == "{}\n"
    assert emit({"metadata": {}}) == "metadata: {}\n"


class Word(StrEnum):
    A = "a"


@pytest.mark.parametrize("value", [(1,), {1}, b"x", Word.A, object()], ids=lambda value: type(value).__name__)
def test_other_types_than_plain_data_are_a_type_error(value: object) -> None:
    with pytest.raises(TypeError, match="plain data"):
        emit({"a": [value]})


def test_a_key_that_is_not_a_string_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        emit({"a": {1: 2}})


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, "\ud800", "a\n\udfff"], ids=lambda text: ascii(text)[:40]
)
def test_values_that_no_reader_can_read_are_a_value_error(value: object) -> None:
    with pytest.raises(ValueError, match=r"disagree|surrogate"):
        emit({"a": value})


def test_text_on_one_line_never_holds_a_line_break() -> None:
    texts = ("a.yaml", "a\nb", "y", "x" * 500)
    assert [quoted(text) for text in texts] == ["a.yaml", '"a\\nb"', '"y"', "x" * 500]


def test_text_for_people_shows_what_they_could_not_see() -> None:
    assert visible('a\t"\\é😀') == 'a\t"\\é😀'
    assert visible("\x1b[0m\r\n\u202e\udcff") == "\\u001b[0m\\r\\n\\u202e\\udcff"
