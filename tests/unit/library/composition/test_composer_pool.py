"""The compiler goes on with the objects that cdk8s returned."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from stowplan.compiler.diagnostics.report import Report
from stowplan.library.composition.node_composer import NodeComposer
from stowplan.library.composition.tree import ChartSource, changed
from stowplan.library.constructs import JsiiComposer
from stowplan.library.manifest import Manifest
from tests.repositories import EXAMPLES, synthesised

SEEN = "example.com/rendered"


def marked(manifest: Manifest) -> Manifest:
    metadata = manifest.body["metadata"]
    annotations = {**metadata.get("annotations", {}), SEEN: "yes"}
    return replace(manifest, body={**manifest.body, "metadata": {**metadata, "annotations": annotations}})


def marking(render: Callable[..., list[ChartSource]]) -> Callable[..., list[ChartSource]]:
    """The same `render`, as if cdk8s had added an annotation to every object."""

    def wrapped(self: object, charts: Sequence[ChartSource]) -> list[ChartSource]:
        return [changed(chart, marked) for chart in render(self, charts)]

    return wrapped


@pytest.mark.parametrize("example", ["kitchen-sink", "extension"])
def test_every_output_has_the_body_that_cdk8s_rendered(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for composer in (NodeComposer, JsiiComposer):
        monkeypatch.setattr(composer, "render", marking(composer.render))
    report = Report()
    outputs = synthesised(EXAMPLES[example], tmp_path, report).outputs
    assert not report.failed
    assert {"crds", "_cluster"} <= {output.path.partition("/")[0] for output in outputs}
    # Plain objects are written as they are, and what extensions make has been rendered with them.
    compiled = [output for output in outputs if output.spec or output.source == "stowplan.yaml"]
    ours = [output for output in compiled if not output.source.endswith(".py")]
    annotations = [output.manifest.body["metadata"].get("annotations", {}) for output in ours]
    assert all(SEEN in each for each in annotations)
