"""Values of a DataCube that may reach the agent's pod and its claim."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from stowplan.library.values import cron
from tests.repositories import Result, compiled

PLATFORM = """\
kind: Platform
images: {registry: registry.example.com/ml, tag: "1"}
"""


def cube(*, env: list[Any] | None = None, pvc: dict[str, Any] | None = None) -> str:
    options = [{"name": "s3-uri", "value": "s3://models/llama/"}]
    spec: dict[str, Any] = {
        "source": {"type": "s3", "s3": {"anonymous": True}, "options": options},
        "sink": {"type": "pvc", "pvc": {"name": "models", **(pvc or {})}},
    }
    if env:
        spec["executor"] = {"env": env}
    metadata = {"name": "llama", "namespace": "ml"}
    return yaml.safe_dump(
        {"apiVersion": "tensorstack.dev/v1beta1", "kind": "DataCube", "metadata": metadata, "spec": spec}
    )


def made(folder: Path, text: str, platform: str = "") -> Result:
    return compiled(folder, {"cube.yaml": f"{PLATFORM}{platform}\n---\n{text}"})


def codes(folder: Path, text: str, platform: str = "") -> list[str]:
    return [found.code for found in made(folder, text, platform).errors]


HARMFUL = """
    LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT PATH PYTHONPATH PYTHONINSPECT PYTHONSTARTUP PYTHONHOME SSL_CERT_FILE
    SSL_CERT_DIR SSLKEYLOGFILE OPENSSL_CONF GIT_SSH_COMMAND GIT_PROXY_COMMAND GIT_EXEC_PATH GIT_CONFIG_COUNT
    NODE_OPTIONS BASH_ENV ENV GCONV_PATH GLIBC_TUNABLES HOSTALIASES TMPDIR NETRC CURL_CA_BUNDLE REQUESTS_CA_BUNDLE
    AWS_CA_BUNDLE AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE STOWPLAN_SOURCE_ACCESS_KEY XDG_CONFIG_HOME ld_preload
    LD_PRELOAD_PROXY_ A
""".split()


@pytest.mark.parametrize("name", HARMFUL)
def test_a_variable_that_could_change_the_agent_is_refused(tmp_path: Path, name: str) -> None:
    assert codes(tmp_path, cube(env=[{"name": name, "value": "/mnt/claim/x"}])) == ["SP459"]


def test_also_one_that_comes_from_elsewhere(tmp_path: Path) -> None:
    source = {"configMapKeyRef": {"name": "a", "key": "b"}}
    assert codes(tmp_path, cube(env=[{"name": "LD_PRELOAD", "valueFrom": source}])) == ["SP459"]


USUAL = """
    HTTPS_PROXY https_proxy HTTP_PROXY http_proxy NO_PROXY no_proxy ALL_PROXY PROXY PROXY_USER HF_ENDPOINT
    HF_HUB_DOWNLOAD_TIMEOUT AWS_REGION AWS_DEFAULT_REGION AWS_ROLE_ARN TZ LANG LC_ALL LANGUAGE
""".split()


@pytest.mark.parametrize("name", USUAL)
def test_variables_that_users_set_are_taken(tmp_path: Path, name: str) -> None:
    assert codes(tmp_path, cube(env=[{"name": name, "value": "x"}])) == []


@pytest.mark.parametrize("allowed", ["[RUST_LOG]", "['RUST_*']"])
def test_the_platform_may_allow_more(tmp_path: Path, allowed: str) -> None:
    text = cube(env=[{"name": "RUST_LOG", "value": "info"}])
    assert codes(tmp_path, text) == ["SP459"]
    (tmp_path / "granted").mkdir()
    assert codes(tmp_path / "granted", text, f"policy: {{executorEnv: {allowed}}}") == []


TEMPLATE = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}


def claim(metadata: dict[str, Any] | None = None, **spec: Any) -> str:
    return cube(pvc={"template": {"metadata": metadata or {}, "spec": {**TEMPLATE, **spec}}})


def test_our_labels_win_over_those_of_a_template(tmp_path: Path) -> None:
    given = {"stowplan.dev/kind": "Evil", "app.kubernetes.io/managed-by": "me", "stowplan.dev/x": "mine", "team": "a"}
    result = made(tmp_path, claim({"labels": given}))
    (body,) = [each.manifest.body for each in result.outputs if each.manifest.kind == "PersistentVolumeClaim"]
    labels = body["metadata"]["labels"]
    assert labels["stowplan.dev/kind"] == "DataCube"
    assert labels["app.kubernetes.io/managed-by"] == "stowplan"
    assert labels["team"] == "a"
    assert "stowplan.dev/x" not in labels
    paths = {found.field_path for found in result.diagnostics if found.code == "SP406"}
    assert {path.rpartition("labels")[2] for path in paths} == {
        '["stowplan.dev/kind"]',
        '["app.kubernetes.io/managed-by"]',
        '["stowplan.dev/x"]',
    }


@pytest.mark.parametrize(
    "key",
    [
        "volume.kubernetes.io/selected-node",
        "volume.kubernetes.io/storage-provisioner",
        "volume.beta.kubernetes.io/storage-class",
        "pv.kubernetes.io/bind-completed",
        "argocd.argoproj.io/hook",
        "argocd.argoproj.io/hook-delete-policy",
        "stowplan.dev/run",
    ],
)
def test_annotations_of_controllers_are_refused_in_a_template(tmp_path: Path, key: str) -> None:
    assert "SP322" in codes(tmp_path, claim({"annotations": {key: "x"}}))


def test_data_of_another_namespace_is_refused_in_a_template(tmp_path: Path) -> None:
    source = {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "x", "namespace": "finance"}
    assert codes(tmp_path, claim(dataSourceRef=source)) == ["SP322"]
    (tmp_path / "own").mkdir()
    assert codes(tmp_path / "own", claim(dataSourceRef={**source, "namespace": "ml"})) == []


@pytest.mark.parametrize("path", [".stowplan", ".Stowplan/x", "./.STOWPLAN", "a/.stowplan/locks", "a/.StowPlan"])
def test_the_agents_own_directory_is_reserved_in_any_case(tmp_path: Path, path: str) -> None:
    assert codes(tmp_path, cube(pvc={"subPath": path})) == ["SP405"]


@pytest.mark.parametrize("ref", ["-f", "--upload-pack=id", "a b", "a\nb", "a..b", "../x"])
@pytest.mark.parametrize("by_flag", [False, True])
def test_a_ref_that_could_be_an_option_of_git_is_refused(tmp_path: Path, ref: str, by_flag: bool) -> None:  # noqa: FBT001
    spec = yaml.safe_load(cube())
    options = [{"name": "url", "value": "https://git.example.com/ml/train.git"}]
    spec["spec"]["source"] = {"type": "git", "options": options}
    if by_flag:
        spec["spec"]["executor"] = {"options": {"extraArgs": [f"--branch={ref}"]}}
    else:
        options.append({"name": "ref", "value": ref})
    assert "SP494" in codes(tmp_path, yaml.safe_dump(spec))


@pytest.mark.parametrize("interval", ["1s", "59s", "1ms", "0h", "0.5m", "59999ms"])
def test_a_schedule_has_at_least_a_minute(interval: str) -> None:
    assert cron.problem(f"@every {interval}") is not None


@pytest.mark.parametrize("expression", ["@every 1m", "@every 60s", "@every 30s30s", "@every 1h30m", "@every 0.5h"])
def test_a_schedule_of_a_minute_or_more(expression: str) -> None:
    assert cron.problem(expression) is None
