"""The agent with compiled configuration, command and variables of an example's Jobs."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.agents.transfer.agent import files
from tests.agents.transfer.server import ACCESS_KEY, SECRET_KEY, Storage
from tests.repositories import REPOSITORY

OUT = REPOSITORY / "out" / "datacube"
VALUES = {"S3_ACCESS_KEY_ID": f"{ACCESS_KEY}\n", "S3_SECRET_ACCESS_KEY": f"{SECRET_KEY}\n"}
"""What the Secret holds, as `echo key | base64` makes it."""


def cubes() -> list[Path]:
    """Folders of the example's S3 transfers."""
    maps = OUT.glob("*/datacube-*/configmap-*.yaml")
    return sorted(path.parent for path in maps if '"type": "s3"' in path.read_text(encoding="utf-8"))


def job_of(folder: Path) -> dict[str, Any]:
    """The spec of the Job, or of the Jobs that a CronJob makes."""
    (path,) = [path for path in folder.iterdir() if path.name.startswith(("job-", "cronjob-"))]
    spec: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))["spec"]
    return spec.get("jobTemplate", {"spec": spec})["spec"]  # type: ignore[no-any-return]


def test_there_are_both_directions() -> None:
    assert len(cubes()) >= 2


@pytest.mark.parametrize("folder", cubes(), ids=lambda path: path.name)
def test_example(folder: Path, s3_server: str, tmp_path: Path) -> None:
    (config_map,) = folder.glob("configmap-*.yaml")
    config = json.loads(yaml.safe_load(config_map.read_text(encoding="utf-8"))["data"]["config.json"])
    (container,) = job_of(folder)["template"]["spec"]["containers"]
    upload = config["source"]["type"] == "pvc"
    local, remote = (config["source"], config["sink"]) if upload else (config["sink"], config["source"])
    assert local["mountPath"] in [each["mountPath"] for each in container["volumeMounts"]]
    local["mountPath"] = str(tmp_path / "claim")
    bucket, _, prefix = remote["uri"].removeprefix("s3://").partition("/")
    prefix = f"{prefix.strip('/')}/" if prefix else ""
    storage = Storage(s3_server, bucket)
    data = tmp_path / "claim" / local["path"]
    (data if upload else tmp_path / "claim").mkdir(parents=True)
    with storage.client() as client:
        client.call("PUT", accepted=(409,))
    if upload:
        (data / "a").write_bytes(b"a")
    else:
        storage.put({f"{prefix}a": b"a"})
    (tmp_path / "config.json").write_text(json.dumps(config))
    environment = {each["name"]: each.get("value", "") for each in container["env"]}
    environment |= {**VALUES, "S3_ENDPOINT": f"{s3_server}\n", "STOWPLAN_RUN": "run", "PATH": os.environ["PATH"]}
    assert container["command"][0] == "python"
    command = [sys.executable, *container["command"][1:], f"--config={tmp_path / 'config.json'}", "--allow-loopback"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert files(data) == {"a": b"a"}
    assert {key: value for key, value in storage.read().items() if key.startswith(prefix)} == {f"{prefix}a": b"a"}
