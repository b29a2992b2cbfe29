"""The compiler goes on with the objects that cdk8s returned."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from stowplan.compiler.diagnostics.report import Report
from stowplan.library.composition.node_composer import NodeComposer
from stowplan.library.composition.tree import ChartSource
from stowplan.library.constructs import JsiiComposer
from stowplan.library.manifest import Manifest
from tests.repositories import EXAMPLES, synthesised

Rendered = list[tuple[Manifest, ...]]
SEEN = "example.com/rendered"


def marked(manifest: Manifest) -> Manifest:
    metadata = manifest.body["metadata"]
    annotations = {**metadata.get("annotations", {}), SEEN: "yes"}
    return Manifest(
        {**manifest.body, "metadata": {**metadata, "annotations": annotations}}, manifest.stem, manifest.run
    )


def marking(render: Callable[..., Rendered]) -> Callable[..., Rendered]:
    """The same `render`, as if cdk8s had added an annotation to every object."""

    def wrapped(self: object, charts: Sequence[ChartSource]) -> Rendered:
        return [tuple(map(marked, manifests)) for manifests in render(self, charts)]

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
    annotations = [output.manifest.body["metadata"].get("annotations", {}) for output in outputs]
    assert all(SEEN in each for each in annotations)
