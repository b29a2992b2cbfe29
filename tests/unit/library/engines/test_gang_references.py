"""External objects of a gang engine are listed, so that none is reported as missing."""

from pathlib import Path

import pytest

from tests.repositories import compiled

_SPECS = """\
kind: Platform
engines: {{gang: {gang}, queue: nightly}}
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {{name: a}}
spec:
  schedulingPolicy: {{priorityClass: urgent}}
  worker: {{replicas: 1, template: {{spec: {{containers: [{{name: main, image: "a:1"}}]}}}}}}
"""


@pytest.mark.parametrize(
    ("gang", "queue"),
    [("volcano", [("Queue", "nightly")]), ("coscheduling", []), ("kueue", [("LocalQueue", "nightly")])],
)
def test_queue_and_priority_class(tmp_path: Path, gang: str, queue: list[tuple[str, str]]) -> None:
    result = compiled(tmp_path, {"a.yaml": _SPECS.format(gang=gang)})
    assert result.errors == []
    externals = {(each.kind, each.name) for output in result.outputs for each in output.externals}
    assert externals == {*queue, ("PriorityClass", "urgent")}
