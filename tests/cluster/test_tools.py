"""The pins under `tests/tools` are consistent."""

import re

import pytest

from tests.cluster.tools import ARGOCD, JOBSET, KUBELET, KUBERNETES, KUEUE, KWOK, NEWEST, Tool


@pytest.mark.parametrize("tool", [*KUBERNETES.values(), KUBELET], ids=lambda tool: tool.name)
def test_staging_modules_are_of_the_same_release(tool: Tool) -> None:
    text = (tool.folder / "go.mod").read_text(encoding="utf-8")
    versions = re.findall(r"^\t(k8s\.io/\S+) => \1 (v\S+)$", text, re.MULTILINE)
    assert tool.version.startswith(f"v{tool.minor}.")
    assert {version for _, version in versions} == {tool.version.replace("v1.", "v0.", 1)}


def test_kubelet_is_of_the_newest_release() -> None:
    assert KUBELET.version == KUBERNETES[NEWEST].version


@pytest.mark.parametrize(
    "module",
    [
        "google.golang.org/grpc",
        "google.golang.org/protobuf",
        "golang.org/x/net",
        "k8s.io/api",
        "k8s.io/apimachinery",
        "k8s.io/client-go",
        "sigs.k8s.io/structured-merge-diff/v6",
    ],
)
def test_what_controllers_share_is_built_once(module: str) -> None:
    versions = set()
    for tool in (ARGOCD, JOBSET, KUEUE, KWOK):
        text = (tool.folder / "go.mod").read_text(encoding="utf-8")
        # A line `replace` counts more than `require`, and is below it.
        versions.add(re.findall(rf"^\t{re.escape(module)} (?:=> \S+ )?(v\S+)", text, re.MULTILINE)[-1])
    assert len(versions) == 1, versions
