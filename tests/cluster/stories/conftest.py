"""Fixtures of the stories: a namespace with all its pods played, the compiled objects, and their folder."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.cluster.client import Manifest
from tests.cluster.control_plane import Cluster
from tests.cluster.markdown import Markdown
from tests.cluster.stories.story import Story, telling
from tests.repositories import compiled

Begin = Callable[..., Story]
Compile = Callable[[str], list[Manifest]]


@pytest.fixture
def kept(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """What a story was when somebody looked at it last."""
    return snapshot.with_defaults(extension_class=Markdown)


@pytest.fixture
def begin(cluster: Cluster, tmp_path: Path) -> Iterator[Begin]:
    """Begins a story in a namespace, by default of the common cluster."""
    with ExitStack() as stack:

        def story(namespace: str, within: Cluster = cluster, **how: Any) -> Story:
            return stack.enter_context(telling(within, namespace, tmp_path, **how))

        yield story


@pytest.fixture
def compile_specs(tmp_path: Path) -> Compile:
    """Specs, with a platform as their first document, to objects."""

    def run(text: str) -> list[Manifest]:
        folder = tmp_path / f"repo-{len(list(tmp_path.glob('repo-*')))}"
        folder.mkdir()
        result = compiled(folder, {"specs.yaml": text})
        assert result.errors == []
        bodies = [output.manifest.body for output in result.outputs]
        return [each for each in bodies if not each["apiVersion"].startswith("argoproj.io/")]

    return run
