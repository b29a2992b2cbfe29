"""The pins under `tests/tools` fit each other."""

import re

import pytest

from tests.cluster.tools import KUBERNETES


@pytest.mark.parametrize("release", KUBERNETES)
def test_staging_modules_are_of_the_same_release(release: str) -> None:
    tool = KUBERNETES[release]
    text = (tool.folder / "go.mod").read_text(encoding="utf-8")
    versions = re.findall(r"^\t(k8s\.io/\S+) => \1 (v\S+)$", text, re.MULTILINE)
    assert tool.version.startswith(f"v{release}.")
    assert {version for _, version in versions} == {tool.version.replace("v1.", "v0.", 1)}
