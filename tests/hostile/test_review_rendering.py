"""No string from a spec or a manifest becomes markup, a link or a mention in a comment, or steers a terminal."""

import html
import re

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from stowplan.compiler.cli.review.risk_gates import stop_on
from stowplan.compiler.diagnostics.document import Document, Node
from stowplan.compiler.diagnostics.locations import START
from stowplan.compiler.diff.change import Action, Change, Danger, Risk
from stowplan.compiler.diff.fields import Field
from stowplan.compiler.diff.markdown import LIMIT, comment
from stowplan.compiler.diff.terminal import lines
from stowplan.compiler.model import Program
from stowplan.compiler.review.scene import Scene, Scenes
from stowplan.schema.meta import ObjectId
from stowplan.schema.platform.platform import Platform

# Tags that the comment itself is made of.
OWN_TAGS = {"h3", "h4", "ul", "li", "p", "strong", "code", "details", "summary"}
# What GitHub and GitLab make links of in text that is rendered, outside code: their documentation of references.
LIVE = re.compile(
    r"[@#!%^~&$]\w|\w:[/\w]|\b[wW]{3}\.|\b[A-Z][A-Z0-9]*-\d|\b[0-9a-fA-F]{7,40}\b|\w@\w",
)
PLAIN = [
    "@org/team",
    "&commat;org/team",
    "&#64;org",
    "https://evil.example",
    "https&colon;//evil.example",
    "www.evil.example",
    "WWW.evil.example",
    "ftp://a",
    "#1",
    "org/repo#1",
    "GH-12",
    "!12",
    "$12",
    "%12",
    "~bug",
    "&12",
    "^alert#1",
    "a@b.example",
    "mailto:a@b.example",
    "<img src=x onerror=y>",
    "<!-- -->",
    "-->",
    "<details>",
    "</details>",
    "<https://a.b>",
    "[a](https://b.c)",
    "![a](//b.c)",
    "[a]: //b",
    "| a | b |",
    "|-|",
    "```",
    "`",
    "``x``",
    "~~~",
    "***",
    "__a__",
    "# a",
    "---",
    "===",
    "> a",
    "- a",
    "1. a",
    "\\",
    "\\\\",
    "0123456789abcdef0123456789abcdef01234567",
    "deadbeef",
    ":tada:",
    "$a^2$",
    "$$",
    "/close",
    "@",
    "#",
    "www",
    ".",
    ":",
    "//",
    "<",
    "&",
    ";",
    "a",
]
ODD = ["\n", "\r\n", "\t", "    ", " ", "\x1b[31m", "\x07", "\u202e", "\u2066", "\u200b", "\x85", "\u2028", "\ud800"]
HOSTILE = st.lists(st.sampled_from([*PLAIN, *ODD]) | st.text(max_size=3), max_size=8).map("".join)


def change(text: str, danger: Danger | None = Danger.DATA) -> Change:
    """A change of which every string is hostile."""
    old, new = (ObjectId("", text, text, f"{text}{end}") for end in "ab")
    risks = (Risk(danger, text),) if danger else ()
    return Change(Action.REPLACED, "c.yaml", text, old, new, (Field((text, text), text, {text: text}),), risks)


def outside_code(rendered: str) -> str:
    return re.sub(r"<code>.*?</code>", " ", rendered, flags=re.DOTALL)


@given(HOSTILE)
@settings(max_examples=500)
def test_a_comment_renders_every_string_as_itself(text: str) -> None:
    written = comment([change(text), change(f"{text}2", None)])
    rendered = outside_code(MarkdownIt("commonmark").enable("table").render(written))
    assert set(re.findall(r"</?([a-zA-Z][\w-]*)", rendered)) <= OWN_TAGS
    assert rendered.count("<li>") >= 4
    assert "<a " not in rendered
    # What is left once the comments that split a text are seen as the boundaries that they are.
    for piece in re.split(r"<[^>]*>", rendered):
        assert not LIVE.search(html.unescape(piece)), piece


@given(st.lists(st.sampled_from(PLAIN), min_size=1, max_size=6).map("".join))
@settings(max_examples=300)
def test_a_risk_reads_as_it_was_written(text: str) -> None:
    rendered = MarkdownIt("commonmark").render(comment([change(text)]))
    risk = rendered.split("data loss: ")[1].split("</li>")[0]
    assert html.unescape(re.sub(r"<!--.*?-->", "", risk)) == text


def test_one_object_cannot_push_the_others_out_of_a_comment() -> None:
    many = tuple(Risk(Danger.SECURITY, f"{number}{'@' * 10_000}") for number in range(1_000))
    own = ObjectId("", "Pod", "ml", "loud")
    fields = tuple(Field((f"{number}{'`' * 10_000}",), 1, 2) for number in range(1_000))
    loud = Change(Action.CHANGED, "a.yaml", "specs/a.yaml", own, own, fields, many)
    text = comment([loud, change("quiet")])
    assert len(text) <= LIMIT
    assert "and 990 more risks" in text
    assert "quiet" in text


@given(HOSTILE)
@settings(max_examples=200)
def test_the_terminal_gets_no_control_character(text: str) -> None:
    shown = "\n".join(line.plain for line in lines([change(text), change(f"{text}2", None)]))
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]", shown)
    usual = list(lines([change("a"), change("a2", None)]))
    assert len(shown.split("\n")) == len(usual)


def test_a_gate_says_each_risk_in_one_line_without_control_characters(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A line that begins with `::` would be an order to the runner of GitHub."""
    program = Program(Platform(), Document("stowplan.yaml", 0, Node({}, START, START)), ())
    found = Scenes((Scene("", {}, (), [change("a\n::add-mask::b\x1b[2J")], program),))
    with pytest.raises(typer.Exit):
        stop_on(found, "data-loss")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("a\\n::add-mask::b\\u001b[2J")
