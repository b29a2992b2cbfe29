"""The settings of await, and the messages about wrong ones."""

import json
from pathlib import Path
from typing import Any

import pytest

from stowplan.agents.await_group.settings import AwaitSettings, arguments, settings
from stowplan.agents.runtime.settings import SettingsError
from stowplan.library.values import names
from stowplan.schema.agents.await_config import RUN_HASH_LENGTH, AwaitConfig, job_name

ENVIRONMENT = {
    "STOWPLAN_RUN": "job-ps-abcdefgh",
    "STOWPLAN_POD": "job-ps-abcdefgh-0-xyz",
    "STOWPLAN_POD_IP": "10.1.2.3",
}
CONFIG = {"namespace": "ml", "jobs": ["job-worker"], "ports": [36543], "helperTimeoutSeconds": 60}


def reported(folder: Path, config: object = CONFIG, **environment: str | None) -> AwaitSettings:
    file = folder / "config.json"
    file.write_text(config if isinstance(config, str) else json.dumps(config), encoding="utf-8")
    given = arguments([f"--config={file}"])
    merged = {**ENVIRONMENT, **environment}
    return settings(given, {key: value for key, value in merged.items() if value is not None})


def test_settings(tmp_path: Path) -> None:
    found = reported(tmp_path)
    assert found.jobs == ("job-worker-abcdefgh",)
    assert (found.namespace, found.ports, found.pod_ip, found.helper.timeout) == ("ml", (36543,), "10.1.2.3", 60)


def test_a_run_may_be_its_hash_alone(tmp_path: Path) -> None:
    """The pods of a JobSet have only the hash, since the names of its Jobs end otherwise."""
    found = reported(tmp_path, STOWPLAN_RUN="abcdefgh")
    assert found.jobs == ("job-worker-abcdefgh",)


def test_ipv6(tmp_path: Path) -> None:
    assert reported(tmp_path, STOWPLAN_POD_IP="fd00::2").pod_ip == "fd00::2"


def test_defaults(tmp_path: Path) -> None:
    found = reported(tmp_path, {"namespace": "ml", "jobs": ["a", "b"], "ports": []}, STOWPLAN_POD_IP=None)
    assert found.jobs == ("a-abcdefgh", "b-abcdefgh")
    assert (found.helper.timeout, found.helper.must_listen, found.helper.container) == (300, False, "")


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("{", "Invalid JSON"),
        ({}, "namespace"),
        ({**CONFIG, "jobs": []}, "jobs"),
        ({**CONFIG, "jobs": ["a/../b"]}, "jobs.0"),
        ({**CONFIG, "jobs": ["a" * 55]}, "jobs.0"),
        ({**CONFIG, "namespace": "../kube-system"}, "namespace"),
        ({**CONFIG, "ports": [0]}, "ports.0"),
        ({**CONFIG, "helperTimeoutSeconds": 0}, "helperTimeoutSeconds"),
        ({**CONFIG, "format": 2}, "format"),
        ({**CONFIG, "more": 1}, "more"),
    ],
)
def test_a_wrong_configuration(tmp_path: Path, config: object, said: str) -> None:
    with pytest.raises(SettingsError) as raised:
        reported(tmp_path, config)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "environment",
    [
        {"STOWPLAN_RUN": None},
        {"STOWPLAN_RUN": "job-ps-12345678"},
        {"STOWPLAN_RUN": "job-psabcdefgh"},
        {"STOWPLAN_POD_IP": None},
        {"STOWPLAN_POD_IP": "10.1.2"},
    ],
)
def test_a_wrong_environment(tmp_path: Path, environment: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(environment))):
        reported(tmp_path, **environment)


def test_missing_files(tmp_path: Path) -> None:
    nothing = tmp_path / "nothing"
    with pytest.raises(SettingsError, match=r"config\.json"):
        settings(arguments([f"--config={nothing / 'config.json'}"]), ENVIRONMENT)


@pytest.mark.parametrize("stem", ["worker", "a" * 54, "a" * 80, "a" * 44 + "-" * 2 + "b" * 20])
def test_job_names_equal_those_of_the_compiler(stem: str) -> None:
    """The compiler puts the shortened stem into the configuration."""
    assert RUN_HASH_LENGTH == names.HASH_LENGTH
    short = names.shorten(stem, names.LABEL_LIMIT - names.HASH_LENGTH - 1)
    config = AwaitConfig(namespace="ml", jobs=[short], ports=[])
    own = names.with_hash("a-helper-of-any-name" * 4, "abcdefgh")
    assert job_name(config.jobs[0], own) == names.with_hash(stem, "abcdefgh")
