"""Code of a Training: the names that it takes, and where it is in the pod."""

from typing import Any

import pytest

from tests.unit.trainings import compiled, env, pod, trainer, training

GIT = {"url": "https://git.example.com/ml/sft.git", "ref": "9fceb02d0ae598e95dc970b74767f19372d61af8"}
TEMPLATE = {"spec": {"initContainers": [{"name": "fetch-code", "image": "registry.example.com/ml/fetch:1"}]}}


def codes(**spec: Any) -> list[str]:
    return [found.code for found in compiled(training(**spec)).findings if found.severity == "error"]


def test_the_name_of_the_init_container_is_taken_only_in_jobs_with_code() -> None:
    assert codes(template=TEMPLATE) == []
    assert codes(template=TEMPLATE, code={"git": GIT}) == ["SP450"]


def test_the_code_is_the_working_directory_unless_the_template_gives_another_one() -> None:
    own = {"spec": {"containers": [{"name": "trainer", "workingDir": "/data"}]}}
    assert trainer(compiled(training(code={"git": GIT})))["workingDir"] == "/code"
    assert trainer(compiled(training(code={"git": GIT}, template=own)))["workingDir"] == "/data"
    assert "workingDir" not in trainer(compiled(training()))


def test_the_variable_is_there_only_with_code() -> None:
    assert env(compiled(training(code={"git": GIT, "mountPath": "/src"})))["STOWPLAN_CODE_DIR"] == "/src"
    assert "STOWPLAN_CODE_DIR" not in env(compiled(training()))


@pytest.mark.parametrize("fills", [True, False])
def test_the_init_container_is_restricted_whoever_runs_the_trainer(*, fills: bool) -> None:
    root = {"spec": {"securityContext": {"runAsUser": 0}}}
    result = compiled(training(code={"git": GIT}, template=root), policy={"fillSecurityContext": fills})
    (container,) = pod(result)["initContainers"]
    context = container["securityContext"]
    assert (context["runAsNonRoot"], context["runAsUser"]) == (True, 65532)
    assert context["capabilities"] == {"drop": ["ALL"]}
    assert context["seccompProfile"] == {"type": "RuntimeDefault"}
