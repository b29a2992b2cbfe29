"""The agent with compiled configuration, command and variables of an example's Jobs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.agents.transfer.agent import mounted
from tests.agents.transfer.git.agent import tree
from tests.agents.transfer.git.author import author
from tests.agents.transfer.git.server import TOKEN, Forge
from tests.agents.transfer.test_compiled import OUT, job_of


def cubes() -> list[Path]:
    """Folders of the example's Git transfers."""
    maps = OUT.glob("*/datacube-*/configmap-*.yaml")
    return sorted(path.parent for path in maps if '"type": "git"' in path.read_text(encoding="utf-8"))


def test_there_are_both_directions() -> None:
    assert len(cubes()) >= 2


@pytest.mark.parametrize("folder", cubes(), ids=lambda path: path.name)
def test_example(folder: Path, forge: Forge, tmp_path: Path) -> None:
    (config_map,) = folder.glob("configmap-*.yaml")
    config = json.loads(yaml.safe_load(config_map.read_text(encoding="utf-8"))["data"]["config.json"])
    (container,) = job_of(folder)["template"]["spec"]["containers"]
    upload = config["source"]["type"] == "pvc"
    local, remote = (config["source"], config["sink"]) if upload else (config["sink"], config["source"])
    local["mountPath"] = str(tmp_path / "claim")
    environment = {each["name"]: each.get("value", "") for each in container["env"] if "PROXY" not in each["name"]}
    name = environment["URL"].rpartition("/")[2].removesuffix(".git")
    forge.users = {remote.get("username") or "oauth2": TOKEN}
    writer = author(tmp_path / "author", forge, f"{name}.git")
    clone = tmp_path / "claim" / local["path"] / name
    if upload:
        clone.mkdir(parents=True)
        subprocess.run(["cp", "-r", f"{writer.folder}/.", clone], check=True)
        there = type(writer)(clone, forge, writer.name)
        there.git("commit", "-q", "--allow-empty", "-m", "Ours")
    else:
        (tmp_path / "claim").mkdir()
        writer.git("tag", environment.get("REF", "v0"), writer.commit({"a": b"a"}))
        writer.git("push", "-q", "origin", "--tags")
    (tmp_path / "config.json").write_text(json.dumps(config))
    environment |= {"URL": f"{forge.url}/{name}.git", "STOWPLAN_RUN": "run"}
    environment |= {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    words = [f"--config={tmp_path / 'config.json'}", "--allow-loopback", mounted(tmp_path, {"TOKEN": f"{TOKEN}\n"})]
    command = [sys.executable, *container["command"][1:], *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    if upload:
        assert writer.git("--git-dir", str(writer.bare), "rev-parse", "main") == there.head
    else:
        assert tree(clone) == {"a": b"a"}
