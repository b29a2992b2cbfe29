"""Lines of the agents' log."""

import io
import json
import re

import pytest

from stowplan.agents.runtime.log import FORMATS, Format, Log


def written(form: Format) -> str:
    stream = io.StringIO()
    Log(form, {"run": "job-ps-abcdefgh"}, stream).warning("Job is\ngone", job="worker", seconds=1.5, reason=None)
    return stream.getvalue()


def test_formats() -> None:
    assert FORMATS == ("json", "text")


def test_one_object_a_line() -> None:
    line = written("json")
    assert line.count("\n") == 1
    event = json.loads(line)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", event.pop("time"))
    assert event == {
        "level": "warning",
        "message": "Job is\ngone",
        "job": "worker",
        "seconds": 1.5,
        "run": "job-ps-abcdefgh",
    }


@pytest.mark.parametrize(
    "odd", ["\x1b[2J", "\r", "\x9b31m", "\u202e", "\u2066", "\u200b", "\x00", "\x7f", "\u2028", "\ud800"]
)
def test_terminal_control_characters_are_escaped(odd: str) -> None:
    stream = io.StringIO()
    Log("text", {}, stream).error(f"GET b/k: 403 {odd}", key=f"a{odd}b")
    line = stream.getvalue()
    assert line.removesuffix("\n").isprintable()
    assert ascii(odd)[1:-1] in line


def test_letters_of_all_scripts_are_shown() -> None:
    stream = io.StringIO()
    Log("text", {}, stream).info("日本語 café 🦊")
    assert stream.getvalue().endswith("日本語 café 🦊\n")


def test_plain_text_format() -> None:
    line = written("text")
    assert line.endswith("WARNING Job is gone job=worker seconds=1.5\n")
    assert line.count("\n") == 1
