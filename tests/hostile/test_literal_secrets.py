"""Passwords and tokens in training templates, in all usual notations."""

import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.repositories import compiled

Json = dict[str, Any]
GITHUB = f"ghp_{'a1B2' * 9}"
SECRET_KEY = {"secretKeyRef": {"name": "hub", "key": "token"}}


def job(container: Json) -> Json:
    template = {"spec": {"containers": [{"name": "main", "image": "a.example.com/a:1", **container}]}}
    return {
        "apiVersion": "batch.paddlepaddle.org/v1",
        "kind": "PaddleJob",
        "metadata": {"name": "a", "namespace": "ml"},
        "spec": {"worker": {"replicas": 1, "template": template}},
    }


def reported(repo: Path, spec: Json, platform: str = "") -> list[str]:
    """Messages of SP603; no other error may be there."""
    head = f"kind: Platform\nimages: {{registry: registry.example.com/ml}}\n{platform}\n---\n"
    result = compiled(repo, {"a.yaml": head + yaml.safe_dump(spec)})
    assert {found.code for found in result.errors} <= {"SP603"}
    return [found.message + found.hint for found in result.errors]


LITERALS: list[Json] = [
    {"env": [{"name": "AWS_SECRET_ACCESS_KEY", "value": "wJalrXUtnFEMI"}]},
    {"env": [{"name": "HF_TOKEN", "value": "wJalrXUtnFEMI"}]},
    {"env": [{"name": "WANDB_API_KEY", "value": "wJalrXUtnFEMI"}]},
    {"env": [{"name": "db_password", "value": "wJalrXUtnFEMI"}]},
    {"env": [{"name": "S3_SECRET_KEY", "value": "wJalrXUtnFEMI"}]},
    {"env": [{"name": "NOTE", "value": GITHUB}]},
    {"env": [{"name": "NOTE", "value": f"glpat-{'wJalrXUtnFEMI' * 2}"}]},
    {"env": [{"name": "NOTE", "value": f"hf_{'wJalrXUtnFEMI' * 3}"}]},
    {"env": [{"name": "NOTE", "value": f"github_pat_{'wJalrXUtnFEMI' * 2}"}]},
    {"env": [{"name": "BROKER", "value": "amqp://me:wJalrXUtnFEMI@broker.example.com"}]},
    {"args": ["--password=wJalrXUtnFEMI"]},
    {"args": ["--password", "wJalrXUtnFEMI"]},
    {"args": ["--hf-token", "wJalrXUtnFEMI", "--epochs", "3"]},
    {"args": ["--wandb_api_key=wJalrXUtnFEMI"]},
    {"command": ["sh", "-c", "python train.py --db-password wJalrXUtnFEMI --epochs 3"]},
    {"command": ["sh", "-c", f"git clone https://{GITHUB}@github.com/me/code && python train.py"]},
]
HARMLESS: list[Json] = [
    {"env": [{"name": "HF_TOKEN", "valueFrom": SECRET_KEY}]},
    {"env": [{"name": "HF_TOKEN", "valueFrom": SECRET_KEY}, {"name": "HUB_TOKEN", "value": "$(HF_TOKEN)"}]},
    {"env": [{"name": "HF_TOKEN_PATH", "value": "/var/run/secrets/hub/token"}]},
    {"env": [{"name": "HF_HUB_DISABLE_IMPLICIT_TOKEN", "value": "1"}]},
    {"env": [{"name": "AWS_ACCESS_KEY_ID", "value": "minio"}, {"name": "MAX_TOKEN", "value": "512"}]},
    {"env": [{"name": "PAD_TOKEN", "value": "PADDING"}, {"name": "MASK_TOKEN", "value": "[MASK]"}]},
    {"env": [{"name": "HF_TOKEN"}, {"name": "ALLOW_EMPTY_PASSWORD", "value": "yes"}]},
    {"env": [{"name": "NOTE", "value": "hf_hub_download and ghp_ are words"}]},
    {"envFrom": [{"secretRef": {"name": "hub"}}]},
    {"args": ["--token=$(HF_TOKEN)", "--password-file=/run/secrets/db", "--hf-token", "$(HF_TOKEN)"]},
    {"args": ["--eos_token=END", "--max-token", "512", "--tokens", "wiki", "--use-token", "--epochs=3"]},
    {"args": ["--password", "/run/secrets/db", "--no-password", "--verbose"]},
    {"command": ["sh", "-c", 'python train.py --password "$DB_PASSWORD" --token $(cat /run/secrets/token)']},
]


@pytest.mark.parametrize("container", LITERALS, ids=str)
@pytest.mark.parametrize("jobs", ["core", "jobset"])
def test_a_literal_secret_is_refused_and_not_repeated(container: Json, jobs: str, tmp_path: Path) -> None:
    found = reported(tmp_path, job(container), f"engines: {{jobs: {jobs}}}")
    assert found
    assert not any("wJalrXUtnFEMI" in text or GITHUB in text for text in found)


@pytest.mark.parametrize("container", HARMLESS, ids=str)
def test_what_is_no_secret_passes(container: Json, tmp_path: Path) -> None:
    assert reported(tmp_path, job(container)) == []


def test_every_container_and_kind_is_looked_at(tmp_path: Path) -> None:
    env = [{"name": "HF_TOKEN", "value": "wJalrXUtnFEMI"}]
    helper = {"name": "fetch", "image": "a.example.com/a:1", "env": env}
    with_init = job({})
    with_init["spec"]["worker"]["template"]["spec"]["initContainers"] = [helper]
    old = {
        "apiVersion": "paddlepaddle.org/v1alpha1",
        "kind": "TrainingJob",
        "metadata": {"name": "a", "namespace": "ml"},
        "spec": {
            "image": "a.example.com/a:1",
            "frame_work": {"name": "paddle", "type": "local"},
            "trainer": {"entrypoint": "train --password=wJalrXUtnFEMI", "min-instance": 1, "max-instance": 1},
        },
    }
    plain = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "a", "namespace": "ml"},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [helper]}}},
    }
    for index, spec in enumerate((with_init, old, plain)):
        (tmp_path / str(index)).mkdir()
        assert reported(tmp_path / str(index), spec, "passThrough: [{group: batch, kind: Job}]")


def test_long_arguments_cost_little_time(tmp_path: Path) -> None:
    """No expression backtracks without end."""
    words = ["--" + "a-" * 30_000, "--a_" * 30_000, "gh" * 50_000, "hf_" * 30_000]
    begin = time.process_time()
    assert reported(tmp_path, job({"args": words})) == []
    assert time.process_time() - begin < 5
