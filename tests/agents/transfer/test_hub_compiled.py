"""The agent with compiled configuration, command and variables of Jobs for transfers with a Hub."""

import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from tests.agents.transfer.agent import files, mounted
from tests.agents.transfer.hub_base import TOKEN, Hub
from tests.agents.transfer.test_compiled import OUT, job_of


def cubes() -> list[Path]:
    """Folders of the example's transfers with a Hub."""
    maps = OUT.glob("*/datacube-*/configmap-*.yaml")
    return sorted(path.parent for path in maps if '"type": "huggingface"' in path.read_text(encoding="utf-8"))


def test_there_are_both_directions() -> None:
    assert len(cubes()) >= 2


@pytest.mark.parametrize("folder", cubes(), ids=lambda path: path.name)
def test_example(folder: Path, hub: Hub, tmp_path: Path) -> None:
    (config_map,) = folder.glob("configmap-*.yaml")
    config = json.loads(yaml.safe_load(config_map.read_text(encoding="utf-8"))["data"]["config.json"])
    (container,) = job_of(folder)["template"]["spec"]["containers"]
    environment = {each["name"]: each.get("value", "") for each in container["env"]}
    upload = config["source"]["type"] == "pvc"
    local, remote = (config["source"], config["sink"]) if upload else (config["sink"], config["source"])
    local["mountPath"] = str(tmp_path / "claim")
    # The storage of the tests' Hub is a host of its own, and none that everybody knows.
    remote["hosts"] = [urlsplit(hub.storage).netloc]
    repository = hub.store.make(environment["REPO"], remote["repoType"], private=True, writers={TOKEN})
    data = tmp_path / "claim" / local["path"]
    (data if upload else tmp_path / "claim").mkdir(parents=True)
    content = dict.fromkeys(remote.get("files") or ["a"], b"content")
    if upload:
        (data / "a").write_bytes(b"content")
    else:
        hub.store.put(repository, content)
    (tmp_path / "config.json").write_text(json.dumps(config))
    environment |= {"HF_ENDPOINT": hub.url, "STOWPLAN_RUN": "run", "PATH": os.environ["PATH"]}
    environment |= {"HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    words = [f"--config={tmp_path / 'config.json'}", "--allow-loopback", mounted(tmp_path, {"TOKEN": f"{TOKEN}\n"})]
    command = [sys.executable, *container["command"][1:], *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert files(data) == content
    if upload:
        assert repository.messages[1:] == [environment["COMMIT_MESSAGE"]]
    prefix = f"{environment['PATH_IN_REPO']}/" if upload else ""
    assert hub.store.read(repository) == {prefix + key: each for key, each in content.items()}
