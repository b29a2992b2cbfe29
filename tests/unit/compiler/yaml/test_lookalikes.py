"""Content that only resembles YAML: typographic quotes, odd spaces, conflict markers, templates."""

import re
from pathlib import Path

import pytest

from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.yaml.reader import read
from tests.repositories import validated
from tests.unit.users import PLATFORM, SPEC, laid_out

NBSP = "\u00a0"


def errors(repo: Path, spec: str, platform: str = PLATFORM) -> list[Diagnostic]:
    laid_out(repo, spec, platform)
    report = Report()
    validated(repo, report)
    return [found for found in report.diagnostics if found.severity == "error"]


def edited(before: str, after: str) -> str:
    assert before in SPEC
    return SPEC.replace(before, after, 1)


CHARACTERS = [
    ("uri: s3", "uri: “s3", 8, "U+201C"),
    ("train/", "train/”", 8, "U+201D"),
    ("name: imagenet", "name: “imagenet”", 4, "U+201C"),
    ("name: imagenet", "name: \u2018imagenet\u2019", 4, "U+2018"),
    ("partitions: 1", "partitions: “1”", 6, "U+201C"),
    ("partitions:", "“partitions”:", 6, "U+201C"),
    ("  partitions: 1", f"{NBSP}{NBSP}partitions: 1", 6, "U+00A0"),
    ("  partitions: 1", f" {NBSP}partitions: 1", 6, "U+00A0"),
    ("partitions: 1", f"partitions:{NBSP}1", 6, "U+00A0"),
    ("partitions: 1", f"partitions: 1{NBSP}", 6, "U+00A0"),
    ("partitions: 1", f"partitions: {NBSP}1", 6, "U+00A0"),
    ("partitions: 1", "partitions: 1\u202f", 6, "U+202F"),
    ("partitions: 1", "partitions: \u200b1", 6, "U+200B"),
    ("partitions: 1", f"partitions{NBSP}: 1", 6, "U+00A0"),
    ("    name: imagenet", f"    name:{NBSP}imagenet", 10, "U+00A0"),
    ("      - path", f"      -{NBSP}path", 13, "U+00A0"),
    ("        cacheSize: 1024", f"        cacheSize:{NBSP}1024", 14, "U+00A0"),
]


@pytest.mark.parametrize(("before", "after", "line", "name"), CHARACTERS)
def test_a_lookalike_character_is_reported_at_its_position(
    tmp_path: Path, before: str, after: str, line: int, name: str
) -> None:
    (found,) = errors(tmp_path, edited(before, after))
    assert (found.code, found.location.line) == ("SP117", line)
    assert name in found.message


@pytest.mark.parametrize(
    "text",
    [
        f'"{NBSP}quoted{NBSP}"',
        "'“quoted”'",
        "he said “yes”",
        "“Yes” is what he said",
        "don\u2019t",
        f"12{NBSP}GB",
        f"|\n    {NBSP}text: “a”",
        f"1 # a{NBSP}comment “",
        "名前",
    ],
)
def test_other_strings_may_contain_lookalike_characters(text: str) -> None:
    documents, diagnostics = read(f"a: {text}\n", "a.yaml")
    assert (len(documents), diagnostics) == (1, [])


CONFLICTS = [
    edited("  partitions: 1\n", "<<<<<<< HEAD\n  partitions: 1\n=======\n  partitions: 2\n>>>>>>> theirs\n"),
    edited("  partitions: 1\n", "<<<<<<< HEAD\r\n  partitions: 1\r\n=======\r\n  partitions: 2\r\n>>>>>>> theirs\r\n"),
    edited("  partitions: 1\n", "<<<<<<< HEAD\n  partitions: 1\n||||||| base\n=======\n>>>>>>> theirs\n"),
    edited("  partitions: 1\n", "=======\n  partitions: 1\n"),
    edited("  partitions: 1\n", ">>>>>>> theirs\n  partitions: 1\n"),
]


@pytest.mark.parametrize("text", CONFLICTS)
def test_a_merge_conflict_is_named_once_at_its_first_marker(tmp_path: Path, text: str) -> None:
    (found,) = errors(tmp_path, text)
    assert (found.code, found.location.line, found.location.column) == ("SP101", 6, 1)
    assert "merge conflict" in found.message


def test_a_merge_conflict_in_the_platform_file_is_named(tmp_path: Path) -> None:
    (found,) = errors(tmp_path, SPEC, f"<<<<<<< HEAD\n{PLATFORM}=======\n>>>>>>> theirs\n")
    assert (found.code, found.location.file, found.location.line) == ("SP101", "stowplan.yaml", 1)


@pytest.mark.parametrize("text", ["a: |\n  <<<<<<< HEAD\n  =======\n", "# <<<<<<< HEAD\na: 1\n", "a: =======\n"])
def test_markers_inside_strings_and_comments_are_ignored(text: str) -> None:
    assert read(text, "a.yaml")[1] == []


@pytest.mark.parametrize(
    ("before", "after", "field"),
    [
        ("name: imagenet", "name: '{{ .Values.name }}'", "metadata.name"),
        ("/train/", "/{{ prefix }}/", "spec.source.uri"),
        ("name: imagenet", "name: '{% if a %}b{% endif %}'", "metadata.name"),
        ("partitions: 1", "partitions: '{{ n }}'", "spec.partitions"),
    ],
)
def test_a_template_in_quotes_is_called_one(tmp_path: Path, before: str, after: str, field: str) -> None:
    (found,) = errors(tmp_path, edited(before, after))
    assert (found.code, found.field_path) == ("SP114", field)
    assert re.search("template engine", found.hint)


@pytest.mark.parametrize("written", [r'"\x3cREGION\x3e"', r'"\x7b{ region }}"', r'"{\u0025 x %}"', '"{\\\n    { x }}"'])
def test_templates_are_found_in_every_notation(tmp_path: Path, written: str) -> None:
    (found,) = errors(tmp_path, edited("/train/", "/").replace("s3://imagenet.s3.eu-west-1.amazonaws.com/", written))
    assert found.code == "SP114"


def test_a_template_in_the_platform_file_is_called_one(tmp_path: Path) -> None:
    (found,) = errors(tmp_path, SPEC, "images: {registry: '{{ registry }}'}\n")
    assert (found.code, found.field_path) == ("SP114", "images.registry")


def test_annotations_and_plain_objects_may_contain_templates(tmp_path: Path) -> None:
    spec = edited("  name: imagenet\n", "  name: imagenet\n  annotations: {note: '{{ x }}'}\n")
    plain = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {alert: '{{ $labels.x }}'}\n"
    assert errors(tmp_path, spec + plain, PLATFORM + "passThrough: [{kind: ConfigMap}]\n") == []
