"""The pins under `tests/tools` are consistent."""

import re

import pytest

from tests.cluster.tools import KUBELET, KUBERNETES, NEWEST, Tool


@pytest.mark.parametrize("tool", [*KUBERNETES.values(), KUBELET], ids=lambda tool: tool.name)
def test_staging_modules_are_of_the_same_release(tool: Tool) -> None:
    text = (tool.folder / "go.mod").read_text(encoding="utf-8")
    versions = re.findall(r"^\t(k8s\.io/\S+) => \1 (v\S+)$", text, re.MULTILINE)
    assert tool.version.startswith(f"v{tool.minor}.")
    assert {version for _, version in versions} == {tool.version.replace("v1.", "v0.", 1)}


def test_kubelet_is_of_the_newest_release() -> None:
    assert KUBELET.version == KUBERNETES[NEWEST].version
