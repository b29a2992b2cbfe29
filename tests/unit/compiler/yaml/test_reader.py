"""The YAML reader: kubectl's values, positions of all keys and values, and plain error messages."""

import math
from typing import Any

import pytest
import yaml

from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.diagnostics.locations import Mark
from stowplan.compiler.diagnostics.report import MOST_ALIKE, Diagnostic
from stowplan.compiler.yaml import reader, tree_builder
from stowplan.compiler.yaml.reader import read
from stowplan.schema.diagnostics import Severity

NESTED = """\
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: "web"}}
spec:
  containers:
  - name: web
    args: [serve, --port, "8080"]
    script: |
      one
        two
    note: >-
      folded
      text
  - name: side
    ports:
      - {containerPort: 80, protocol: TCP}
  empty: {}
  none: []
  nothing:
"""


def one(text: str) -> Document:
    documents, diagnostics = read(text, "f")
    assert not diagnostics, diagnostics
    assert len(documents) == 1
    return documents[0]


def data(text: str) -> Any:
    document = one(text)
    assert repr(document.data) == repr(document.root.data)
    return document.data


def found(text: str) -> list[Diagnostic]:
    return read(text, "f")[1]


def brief(text: str) -> list[str]:
    diagnostics = sorted(found(text), key=lambda d: (d.location, d.code, d.field_path, d.message))
    return [f"{d.code} {d.location.line}:{d.location.column} {d.field_path}".rstrip() for d in diagnostics]


def at(document: Document, *path: str | int) -> str:
    """Return the positions of the key and the value of a path."""
    node, exact = document.root.nearest(path)
    assert exact, path
    return f"{node.key_mark.line}:{node.key_mark.column} {node.mark.line}:{node.mark.column}"


# Values. The right-hand sides are what sigs.k8s.io/yaml v1.6.0 with go.yaml.in/yaml/v2 v2.4.4 prints as JSON.


@pytest.mark.parametrize("text", ["", "~", "null", "Null", "NULL", "!!null ''", "# only a comment"])
def test_a_plain_null(text: str) -> None:
    assert data(f"a: {text}") == {"a": None}


@pytest.mark.parametrize("text", "y Y yes Yes YES true True TRUE on On ON".split())
def test_words_of_yaml_1_1_are_true(text: str) -> None:
    assert data(f"a: {text}") == {"a": True}


@pytest.mark.parametrize("text", "n N no No NO false False FALSE off Off OFF".split())
def test_words_of_yaml_1_1_are_false(text: str) -> None:
    assert data(f"a: {text}") == {"a": False}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("-0", 0),
        ("+12", 12),
        ("-12", -12),
        ("1_000", 1000),
        ("1__0_", 10),
        ("0755", 493),
        ("0_7", 7),
        ("010", 8),
        ("0o17", 15),
        ("0O17", 15),
        ("0x1F", 31),
        ("0X1f", 31),
        ("-0x1F", -31),
        ("0x_1f", 31),
        ("0b11", 3),
        ("-0B11", -3),
        ("08", 8),
        ("0999", 999),
        ("3.0", 3),
        ("1.", 1),
        ("1e3", 1000),
        ("1.e3", 1000),
        (".5e3", 500),
        ("-0.0", 0),
        ("1e-400", 0),
        ("!!int '3'", 3),
        ("!!float 3", 3),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("18446744073709551615", 2**64 - 1),
        ("0xFFFFFFFFFFFFFFFF", 2**64 - 1),
        ("9007199254740993.0", 9007199254740992),
        ("4.611686018427387904e18", 4611686018427388000),
        ("1e19", 10**19),
    ],
)
def test_an_integer(text: str, value: int) -> None:
    read_back = data(f"a: {text}")["a"]
    assert (read_back, type(read_back)) == (value, int)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.5", 1.5),
        (".5", 0.5),
        (".5_0", 0.5),
        ("+.5", 0.5),
        ("-1.25e-3", -0.00125),
        ("!!float '1.5'", 1.5),
        ("1_0.2_5", 10.25),
        ("18446744073709551616", 1.8446744073709552e19),
        ("-9223372036854775809", -9.223372036854776e18),
        ("1e20", 1e20),
        ("1e300", 1e300),
        ("0777777777777777777777777", 7.77777777777777777777777e23),
    ],
)
def test_a_float_or_an_integer_beyond_64_bits(text: str, value: float) -> None:
    read_back = data(f"a: {text}")["a"]
    assert (read_back, type(read_back)) == (value, float)


@pytest.mark.parametrize(
    "text",
    """1:30 12:30:45 2001-01-01 2001-12-14t21:59:43.10-05:00 2020-01-01T10:00:00Z yEs nUll None - + . .. ._5 .e5 0o8 0x
    0b2 0o _1 1e400 1.5.6 10.0.0.1 1,000 inf nan Infinity 0xFFFFFFFFFFFFFFFFFF << = 500m 1Gi 12e 1e+ v1 -.""".split(),
)
def test_other_plain_scalars_are_strings(text: str) -> None:
    value = "-x" if text == "-" else text
    assert data(f"a: {value}") == {"a": value}


@pytest.mark.parametrize("value", ["yes", "1", "0x1", "1.5", "null", "~", "", "<<", ".inf", "2001-01-01"])
@pytest.mark.parametrize("written", ['"{}"', "'{}'", "!!str {}", "! {}", "!!str '{}'"])
def test_quotes_and_the_tag_str_make_strings(value: str, written: str) -> None:
    assert data(f"a: {written.format(value)}") == {"a": value}


def test_block_scalars_are_strings() -> None:
    assert data("a: |-\n  12\nb: >-\n  yes\n") == {"a": "12", "b": "yes"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("!!bool yes", True),
        ("!!bool 'off'", False),
        ("!!timestamp 2001-01-01", "2001-01-01"),
        ("!!map {b: 1}", {"b": 1}),
        ("!!seq [1]", [1]),
        ("! [1]", [1]),
        ("!<tag:yaml.org,2002:int> 3", 3),
    ],
)
def test_tags_of_the_core_schema_hold(text: str, value: object) -> None:
    assert data(f"a: {text}") == {"a": value}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (".inf", ".inf"),
        ("-.INF", "-.INF"),
        (".nan", ".nan"),
        ("!!float .inf", ".inf"),
        ("!foo b", "b"),
        ("!foo [b]", ["b"]),
        ("!!binary aGk=", "aGk="),
        ("!!set {b: 1}", {"b": 1}),
        ("!!str [b]", ["b"]),
        ("!!map b", "b"),
        ("!!seq {b: 1}", {"b": 1}),
        ("!!int 3.0", "3.0"),
        ("!!int ''", ""),
        ("!!bool 1", "1"),
        ("!!null x", "x"),
        ("!!merge x", "x"),
    ],
)
def test_a_value_that_json_cannot_carry_or_a_tag_without_meaning_is_refused_and_its_text_kept(
    text: str, kept: object
) -> None:
    documents, diagnostics = read(f"a: {text}", "f")
    assert [(d.code, d.location.column, d.field_path) for d in diagnostics] == [("SP110", 4, "a")]
    assert documents[0].root.data == {"a": kept}


def test_ordinary_data_reads_as_pyyaml_reads_it() -> None:
    assert data(NESTED) == yaml.safe_load(NESTED)


# Positions.


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ((), "1:1 1:1"),
        (("kind",), "2:1 2:7"),
        (("metadata",), "3:1 3:11"),
        (("metadata", "labels", "app"), "3:32 3:37"),
        (("spec", "containers"), "5:3 6:3"),
        (("spec", "containers", 0), "6:5 6:5"),
        (("spec", "containers", 0, "args", 2), "7:27 7:27"),
        (("spec", "containers", 0, "script"), "8:5 8:13"),
        (("spec", "containers", 1, "ports", 0, "protocol"), "16:29 16:39"),
        (("spec", "nothing"), "19:3 19:11"),
    ],
)
def test_every_key_and_value_has_its_position(path: tuple[str | int, ...], place: str) -> None:
    assert at(one(NESTED), *path) == place


@pytest.mark.parametrize(
    "text",
    [
        "é😀\U0001d4b3: [1, x]\nb: 2\n",
        "\ufeffé😀\U0001d4b3: [1, x]\nb: 2\n",
        "é😀\U0001d4b3: [1, x]\r\nb: 2\r\n",
        "é😀\U0001d4b3: [1, x]\rb: 2\r",
    ],
    ids=["astral", "byte order mark", "CRLF", "CR"],
)
def test_columns_count_characters_whatever_ends_the_lines(text: str) -> None:
    document = one(text)
    assert at(document, "é😀\U0001d4b3", 1) == "1:10 1:10"
    assert at(document, "b") == "2:1 2:4"


def test_line_breaks_that_only_yaml_knows_do_not_count_as_lines() -> None:
    document = one("a: 'x\u2028y'\nb: 'x\x85y' # \u2029c: 1\n")
    assert at(document, "b") == "2:1 2:4"
    assert at(document, "c") == "2:13 2:16"


def test_a_value_with_an_anchor_or_tag_begins_there() -> None:
    assert at(one("a: &x !!str 1"), "a") == "1:1 1:4"


# Aliases and merge keys.


def test_an_alias_has_the_value_of_its_anchor_and_its_own_position() -> None:
    document = one("a: &x\n  b: 1\nc: *x\n")
    assert document.root.data == {"a": {"b": 1}, "c": {"b": 1}}
    assert (at(document, "c"), at(document, "c", "b")) == ("3:1 3:4", "2:3 2:6")


def test_an_alias_can_be_a_key() -> None:
    assert data("a: &k name\n*k : 1") == {"a": "name", "name": 1}


def test_the_latest_anchor_of_a_name_counts() -> None:
    assert data("a: &x 1\nb: &x 2\nc: *x") == {"a": 1, "b": 2, "c": 2}
    assert data("a: &x [&x 1, *x]\nb: *x") == {"a": [1, 1], "b": 1}


def test_anchors_end_with_their_document() -> None:
    assert brief("a: &x 1\n---\nb: *x") == ["SP101 3:4 b"]


@pytest.mark.parametrize(
    ("merge", "value"),
    [
        ("<<: *x", {"a": 1, "b": 2}),
        ("!!merge <<: *x", {"a": 1, "b": 2}),
        ("? <<\n  : *x", {"a": 1, "b": 2}),
        ("<<: {a: 5}", {"a": 5}),
        ("<<: *x\n  b: 3", {"a": 1, "b": 3}),
        ("<<: [*x, {b: 4, c: 5}]", {"a": 1, "b": 2, "c": 5}),
        ("<<: {<<: *x, b: 6}", {"a": 1, "b": 6}),
        ("<<: []", {}),
        ("'<<': 1", {"<<": 1}),
        ("!!str <<: 1", {"<<": 1}),
        ("b: <<", {"b": "<<"}),
    ],
)
def test_merge_keys(merge: str, value: object) -> None:
    assert data(f"x: &x {{a: 1, b: 2}}\nt:\n  {merge}\n")["t"] == value


def test_merged_keys_keep_their_place_at_the_anchor() -> None:
    document = one("x: &x\n  a: 1\nt:\n  <<: *x\n  b: 2\n")
    assert (at(document, "t", "a"), at(document, "t", "b")) == ("2:3 2:6", "5:3 5:6")


def test_a_merge_behind_a_key_that_it_brings_is_warned_of_since_kubectl_takes_the_merged_value() -> None:
    documents, diagnostics = read("x: &x {a: 1}\nt:\n  a: 2\n  <<: *x\n", "f")
    assert documents[0].root.data["t"] == {"a": 2}
    assert [(d.code, d.severity, str(d.location), d.field_path) for d in diagnostics] == [
        ("SP102", Severity.WARNING, "f:4:3", "t.a")
    ]
    assert "already at 3:3" in diagnostics[0].message


@pytest.mark.parametrize("value", ["3", "text", "", "[1]", "[{a: 1}, x]"])
def test_only_mappings_can_be_merged(value: str) -> None:
    assert brief(f"t:\n  <<: {value}") == [f"SP110 2:{7 if value else 6} t"]


def test_a_second_merge_key_is_a_duplicate() -> None:
    assert brief("<<: {a: 1}\n<<: {b: 1}") == ["SP102 2:1"]


@pytest.mark.parametrize("text", ["a: &x [*x]", "a: &x {b: *x}", "a: &x {<<: *x}", "a: &x\n- - b: [*x]"])
def test_an_anchor_that_holds_itself_is_refused(text: str) -> None:
    documents, diagnostics = read(text, "f")
    assert "inside of its own anchor" in diagnostics[0].message
    assert (documents, diagnostics[0].code) == ([], "SP107")


def test_an_alias_without_an_anchor_does_not_hide_what_follows() -> None:
    assert brief("a: *b\nc: 1\nc: 2") == ["SP101 1:4 a", "SP102 3:1 c"]


# Keys.

COLLECTION_HINT = 'Put a string that begins with "{" or "[" in quotes; let a template engine write the file first.'


@pytest.mark.parametrize(
    ("second", "column"), [("a", 3), ('"a"', 3), ("'a'", 3), ("!!str a", 3), ('"\\x61"', 3), ("*k ", 3), ("? a\n  ", 5)]
)
def test_a_duplicate_key_names_both_places_however_it_is_written(second: str, column: int) -> None:
    documents, diagnostics = read(f"k: &k a\nm:\n  a: 1\n  {second}: 2\n", "f")
    assert [(d.code, str(d.location), d.field_path) for d in diagnostics] == [("SP102", f"f:4:{column}", "m.a")]
    assert diagnostics[0].message == 'The key "a" is here and at 3:3; a mapping holds each key once.'
    assert documents[0].root.data["m"] == {"a": 2}


def test_keys_that_differ_in_case_are_not_duplicates() -> None:
    assert data("a: 1\nA: 2") == {"a": 1, "A": 2}


@pytest.mark.parametrize(
    ("key", "message", "hint"),
    [
        ("1", 'the number 1. kubectl would make it "1".', 'Put it in quotes: "1".'),
        ("0x10", 'the number 16. kubectl would make it "16".', 'Put it in quotes: "0x10".'),
        ("1.5", "the number 1.5.", 'Put it in quotes: "1.5".'),
        ("y", 'the boolean true. kubectl would make it "true".', 'Put it in quotes: "y".'),
        ("off", 'the boolean false. kubectl would make it "false".', 'Put it in quotes: "off".'),
        ("~", "null.", 'Put it in quotes: "~".'),
        ("? ~\n", "null.", 'Put it in quotes: "~".'),
        ("? [b]\n", "a list.", COLLECTION_HINT),
        ("{b: 1}", "a mapping.", COLLECTION_HINT),
    ],
)
def test_a_key_that_is_no_string_is_refused_and_dropped(key: str, message: str, hint: str) -> None:
    documents, diagnostics = read(f"a: 1\n{key}: 2\n", "f")
    assert [(d.code, d.location.line) for d in diagnostics] == [("SP103", 2)]
    assert (diagnostics[0].message, diagnostics[0].hint) == (f"A key must be a string; this one is {message}", hint)
    assert documents[0].root.data == {"a": 1}


def test_the_hint_for_an_unquoted_template_is_to_quote_it() -> None:
    assert brief("a: {{ .Values.x }}") == ["SP103 1:5 a"]


def test_a_key_that_looks_like_a_date_is_a_string() -> None:
    assert data("2001-01-01: x") == {"2001-01-01": "x"}


# Syntax errors.

TAB = "YAML requires spaces here, but this is a tab."
COLON = 'A ":" is in a place where no key can end.'
NEXT_KEY = "The next key of the mapping above was expected here."
QUOTE = "The quote that opens here is never closed."
ESCAPE = "A backslash in double quotes begins an escape, and YAML knows none like this."
NAME = 'A "*", "&" or "!" must be followed by a name.'
DIRECTIVE = 'A line that begins with "%" is a directive; this one cannot be used.'
HEADER = 'Only a comment may follow on this line; the string of "|" or ">" begins on the next one.'


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("a:\n\tb: 1", "2:1", TAB),
        ("a: 1\n\tb: 2", "2:1", TAB),
        ("a:\n  b: 1\n  \tc: 2", "3:3", TAB),
        ("a: |\n\tx", "2:1", TAB),
        ("é:\r\n \tb: 1", "2:2", TAB),
        ("a: b: c", "1:5", COLON),
        ("a: 1\n b: 2", "2:3", COLON),
        ("a:\n  b: 1\n c: 2\n", "3:2", NEXT_KEY),
        ("a: [b]]", "1:7", NEXT_KEY),
        ("- a\nb: c", "2:1", 'The next item of the list above was expected here, beginning with "- ".'),
        ("a: b\nc\nd: e\n", "2:1", 'A key begins here, but no ":" follows on its line.'),
        ("a: - b", "1:4", 'A list cannot begin with "- " here.'),
        ("a: ]", "1:4", "A value was expected here."),
        ("a:\n  b: 'x\n  c: y", "2:6", QUOTE),
        ('a: "x\n---\n', "1:4", QUOTE),
        ("a: [1, 2", "1:4", 'The list or mapping that opens here is never closed, or a "," is missing in it.'),
        ("a:\n  {{- if .Values.x }}\n  b: 1\n  {{- end }}\n", "2:3", "A template begins here; specs are plain YAML."),
        ("a: {b: c\nd: e", "2:2", 'The list or mapping that opens at 1:4 is not closed here, or a "," is missing.'),
        ("a: @b", "1:4", 'A value cannot begin with "@".'),
        ("a: `b`", "1:4", 'A value cannot begin with "`".'),
        ("a: %b", "1:4", 'A value cannot begin with "%".'),
        ('a: "\\q"', "1:5", ESCAPE),
        ('a: "\\u12"', "1:7", ESCAPE),
        ('a: "\\ud800"', "1:7", "This escape is no character; half of a surrogate pair is none."),
        ("a: */5 * * * *", "1:4", NAME),
        ("a: &", "1:4", NAME),
        ("a: | b", "1:6", HEADER),
        ("a: > b\n c", "1:6", HEADER),
        ("a: !x!y z", "1:4", "The tag has a prefix that no %TAG line declares."),
        ("%YAML 1.3\n---\n", "1:1", DIRECTIVE),
        ("%YAML 1.1\n%YAML 1.1\n---\n", "2:1", DIRECTIVE),
        ("%YAML x\n---\n", "1:1", DIRECTIVE),
        ("a: b\n...\nc: d\n", "3:1", "The document has ended, and no other begins here."),
        ("{a: 1}}", "1:7", "The document has ended, and no other begins here."),
        ("a: |0\n b", "1:5", "The YAML cannot be parsed: found an indentation indicator equal to 0."),
    ],
)
def test_syntax_errors_are_explained_at_their_position(text: str, place: str, message: str) -> None:
    diagnostics = found(text)
    assert [(d.code, f"{d.location.line}:{d.location.column}", d.message) for d in diagnostics] == [
        ("SP101", place, message)
    ]
    assert diagnostics[0].hint.endswith(".")


def test_an_unquoted_cron_expression_is_shown_how_to_be_written() -> None:
    assert '"*/5 * * * *"' in found("schedule: */5 * * * *")[0].hint


def test_yaml_1_2_may_be_declared() -> None:
    assert data("%YAML 1.2\n---\na: 1") == {"a": 1}


@pytest.mark.parametrize(
    ("character", "name"), [("\0", "0000"), ("\x07", "0007"), ("\x7f", "007F"), ("\ud800", "D800"), ("\uffff", "FFFF")]
)
def test_a_control_character_is_refused_at_its_place(character: str, name: str) -> None:
    documents, diagnostics = read(f"a: 1\n---\né: x{character}\n", "f")
    assert (documents, diagnostics[0].code, str(diagnostics[0].location)) == ([], "SP104", "f:3:5")
    assert f"U+{name}" in diagnostics[0].message


def test_a_second_byte_order_mark_is_refused_since_libyaml_would_not_count_it() -> None:
    assert brief("\ufeff\ufeffa: [1, 1.5]") == ["SP104 1:1"]
    assert data('a: "\ufeffb"') == {"a": "\ufeffb"}


# Documents.


@pytest.mark.parametrize(
    "text", ["", "\n", "# c", "# c\n---\n# d\n", "---\n---\n...\n", "null", "--- ~\n", " \n", "\ufeff"]
)
def test_empty_documents_give_nothing(text: str) -> None:
    assert read(text, "f") == ([], [])


def test_documents_keep_their_number_in_the_file() -> None:
    documents, diagnostics = read("a: 1\n---\n# empty\n--- {b: 2}\n...\n---\nc: 3\n", "x/y.yaml")
    assert not diagnostics
    assert [(d.file, d.index, d.root.data) for d in documents] == [
        ("x/y.yaml", 0, {"a": 1}),
        ("x/y.yaml", 2, {"b": 2}),
        ("x/y.yaml", 3, {"c": 3}),
    ]
    assert [d.root.mark for d in documents] == [Mark(1, 1), Mark(4, 5), Mark(7, 1)]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("- 1", "a list"),
        ("3", "the number 3"),
        ("yes", "the boolean true"),
        ("kind:SampleSet", 'the string "kind:SampleSet"'),
        ('"a\\nb"', 'the string "a\\nb"'),
        ("x" * 100, f'the string "{"x" * 60}…"'),
    ],
)
def test_a_document_must_be_a_mapping(text: str, what: str) -> None:
    documents, diagnostics = read(text, "f")
    assert (documents, diagnostics[0].code) == ([], "SP111")
    assert diagnostics[0].message == f"A document must be a mapping; this one is {what}."


def test_a_broken_document_hides_neither_those_before_it_nor_those_behind() -> None:
    text = "a: 1\na: 2\n---\nb: 'x\n---\nc: 3\n---\nd: [\n--- {e: 4, e: 5}\n"
    documents, diagnostics = read(text, "f")
    assert [(d.index, d.root.data) for d in documents] == [(0, {"a": 2}), (2, {"c": 3}), (4, {"e": 5})]
    assert [(d.code, d.location.line) for d in diagnostics] == [
        ("SP102", 2),
        ("SP101", 4),
        ("SP101", 9),
        ("SP102", 9),
    ]


def test_findings_of_a_document_that_breaks_later_are_kept() -> None:
    assert brief("a: 1\na: 2\nb: [") == ["SP102 2:1 a", "SP101 3:5"]


def test_what_follows_a_finished_document_repeats_none_of_its_findings() -> None:
    assert brief("a: 1\na: 2\n...\nfoo") == ["SP102 2:1 a", "SP101 4:1"]


def test_three_dashes_inside_a_line_begin_nothing() -> None:
    documents, diagnostics = read("a: [\n ---\n---b\n---\nc: 1", "f")
    assert ([d.code for d in diagnostics], [d.root.data for d in documents]) == (["SP101"], [{"c": 1}])


# Limits.


def nested(depth: int) -> str:
    return f"a: {'[' * (depth - 1)}{']' * (depth - 1)}"


def test_nesting_up_to_the_limit_is_read() -> None:
    assert data(nested(tree_builder.MAX_DEPTH))
    assert brief(nested(tree_builder.MAX_DEPTH + 1)) == [f"SP106 1:{3 + tree_builder.MAX_DEPTH} a{'[0]' * 7}"]


@pytest.mark.parametrize("unit", ["[", "{", "- ", "? ", "[a: ", "{a: "])
def test_hostile_nesting_stops_at_the_limit_and_the_next_document_is_read(unit: str) -> None:
    documents, diagnostics = read(f"{unit * 100_000}\n---\na: 1\n", "f")
    assert [d.code for d in diagnostics] == ["SP106"]
    assert [d.root.data for d in documents] == [{"a": 1}]


def test_depth_through_aliases_counts() -> None:
    text = f"a: &a {'[' * 40}{']' * 40}\nb: {'[' * 30}*a{']' * 30}\n"
    assert [d.code for d in found(text)] == ["SP106"]


def test_an_alias_bomb_is_refused_before_it_expands() -> None:
    bomb = "a0: &a0 x\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
    assert [d.code for d in found(bomb)] == ["SP107"]


def test_a_merge_bomb_is_refused() -> None:
    keys = ", ".join(f"k{i}: 1" for i in range(1000))
    text = f"a: &a {{{keys}}}\n" + "".join(f"b{i}: {{<<: *a}}\n" for i in range(60))
    assert [d.code for d in found(text)] == ["SP107"]


def test_values_up_to_the_limit_are_read() -> None:
    assert len(data("a:\n" + "- 1\n" * (tree_builder.MAX_NODES - 3))["a"]) == tree_builder.MAX_NODES - 3
    assert [d.code for d in found("a:\n" + "- 1\n" * (tree_builder.MAX_NODES - 2))] == ["SP107"]


def test_documents_up_to_the_limit_are_read() -> None:
    documents, diagnostics = read("---\na: 1\n" * reader.MAX_DOCUMENTS, "f")
    assert (len(documents), diagnostics) == (reader.MAX_DOCUMENTS, [])
    documents, diagnostics = read("---\na: 1\n" * 1_500, "f")
    assert (len(documents), [(d.code, d.location.line) for d in diagnostics]) == (1_000, [("SP108", 2_001)])


def test_broken_documents_count_against_the_limit() -> None:
    *reported, rest, last = found("---\n@\n" * 5_000)
    assert [d.code for d in reported] == ["SP101"] * MOST_ALIKE
    assert (rest.code, rest.more) == ("SP101", reader.MAX_DOCUMENTS - MOST_ALIKE)
    assert last.code == "SP108"


def test_tag_directives_that_would_take_libyaml_seconds_are_refused() -> None:
    text = "".join(f"%TAG !{i}! a\n" for i in range(50_000))
    assert [(d.code, d.location.line) for d in found(text)] == [("SP101", reader.MAX_DIRECTIVES + 1)]


def test_a_line_of_ten_megabytes_is_read() -> None:
    assert len(data(f"a: {'x' * 10_000_000}")["a"]) == 10_000_000


def test_a_number_of_a_million_digits_is_read() -> None:
    assert data(f"a: {'9' * 1_000_000}") == {"a": "9" * 1_000_000}
    assert math.isclose(data(f"a: 1.{'9' * 1_000_000}")["a"], 2)
