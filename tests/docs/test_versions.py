"""The versions that the documentation names are those of the code and of the tests."""

from typing import get_args

from stowplan.schema.platform.settings import KUBERNETES_VERSIONS, JuiceFS
from tests.cluster.tools import ARGOCD, COSCHEDULING, JOBSET, JUICEFS, KUBELET, KUBERNETES, KUEUE
from tests.repositories import REPOSITORY

PAGE = (REPOSITORY / "docs/pages/explanation/versions.md").read_text()
ROWS = {cells[1].strip(): cells for line in PAGE.splitlines() if len(cells := line.split("|")) == 5}


def test_what_it_is_tested_with_is_what_tests_build() -> None:
    tested = {
        "Kubernetes": [*KUBERNETES.values(), KUBELET],
        "Argo CD": [ARGOCD],
        "JuiceFS client": [JUICEFS],
        "JobSet": [JOBSET],
        "Kueue": [KUEUE],
        "scheduler-plugins": [COSCHEDULING],
    }
    for name, tools in tested.items():
        assert [tool.version for tool in tools if tool.version.removeprefix("v") not in ROWS[name][3]] == [], name


def test_what_is_supported_is_what_the_platform_file_takes() -> None:
    clients = get_args(JuiceFS.model_fields["client_version"].annotation)
    assert f" {', '.join(KUBERNETES_VERSIONS)} " in ROWS["Kubernetes"][2]
    assert f" {', '.join(clients)} " in ROWS["JuiceFS client"][2]
