"""Lines of the agents' log."""

import io
import json
import re

from stowplan.agents.log import FORMATS, Format, Log


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


def test_text_for_people() -> None:
    line = written("text")
    assert line.endswith("WARNING Job is gone job=worker seconds=1.5\n")
    assert line.count("\n") == 1
