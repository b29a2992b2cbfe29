"""The code of a Training, cloned with its compiled configuration from a real Git server."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from stowplan.library.manifest import Json
from tests.agents.transfer.git.author import author
from tests.agents.transfer.git.server import TOKEN, Forge
from tests.unit.trainings import compiled, pod, training


class Pod:
    """The init container of a training pod as a process, and the folder of its volume."""

    def __init__(self, folder: Path, forge: Forge, ref: str) -> None:
        git = {"url": "https://git.example.com/ml/sft.git", "ref": ref, "secretRef": {"name": "git"}}
        result = compiled(training(code={"git": git, "mountPath": "/workspace"}))
        self.spec: Json = pod(result)
        self.volume, self.folder, self.forge = folder / "volume", folder, forge
        self.volume.mkdir(parents=True)
        (config,) = [each.body for each in result.unit.manifests if each.kind == "ConfigMap"]
        self.config: Json = json.loads(config["data"]["config.json"])
        self.config["sink"]["mountPath"] = str(self.volume)

    def run(self) -> "subprocess.CompletedProcess[str]":
        (container,) = self.spec["initContainers"]
        (self.folder / "config.json").write_text(json.dumps(self.config))
        values = {each["name"]: each["value"] for each in container["env"] if "value" in each}
        values |= {"URL": f"{self.forge.url}/sft.git", "TOKEN": f"{TOKEN}\n", "STOWPLAN_RUN": "abcdefgh"}
        values |= {"PATH": os.environ["PATH"], "HOME": str(self.folder)}
        command = [sys.executable, *container["command"][1:], f"--config={self.folder / 'config.json'}"]
        return subprocess.run([*command, "--allow-loopback"], env=values, capture_output=True, text=True, check=False)

    @property
    def code(self) -> dict[str, bytes]:
        """The files that the trainer finds."""
        mount: dict[str, Any] = next(each for each in trainer(self.spec)["volumeMounts"] if "subPath" in each)
        root = self.volume / mount["subPath"]
        files = (each for each in root.rglob("*") if each.is_file() and ".git" not in each.parts)
        return {str(each.relative_to(root)): each.read_bytes() for each in files}


def trainer(spec: Json) -> Json:
    (found,) = spec["containers"]
    return dict(found)


def test_the_trainer_finds_the_files_of_the_commit_and_not_of_the_branch(forge: Forge, tmp_path: Path) -> None:
    forge.users = {"oauth2": TOKEN}
    writer = author(tmp_path / "author", forge, "sft.git")
    commit = writer.commit({"train.py": b"old", "lib/data.py": b"data"})
    writer.commit({"train.py": b"new"})
    writer.git("push", "-q", "origin", "main")
    run = Pod(tmp_path / "pod", forge, commit)
    done = run.run()
    assert done.returncode == 0, done.stderr
    assert run.code == {"train.py": b"old", "lib/data.py": b"data"}
    assert TOKEN not in done.stdout + done.stderr
    # A pod whose init containers run again, as after a restart of its node, goes on.
    assert run.run().returncode == 0


def test_a_commit_that_does_not_exist_ends_the_pod_with_the_code_for_what_is_missing(
    forge: Forge, tmp_path: Path
) -> None:
    forge.users = {"oauth2": TOKEN}
    writer = author(tmp_path / "author", forge, "sft.git")
    writer.commit({"train.py": b"old"})
    writer.git("push", "-q", "origin", "main")
    done = Pod(tmp_path / "pod", forge, "9fceb02d0ae598e95dc970b74767f19372d61af8").run()
    assert (done.returncode, "9fceb02d" in done.stderr) == (4, True), done.stderr


def test_the_token_is_a_file_of_the_init_container_alone() -> None:
    git = {"url": "https://git.example.com/ml/sft.git", "ref": "v1", "secretRef": {"name": "git"}}
    result = compiled(training(code={"git": git}))
    spec = pod(result)
    (init,) = spec["initContainers"]
    items = [{"key": "token", "path": "TOKEN"}]
    (volume,) = [each["name"] for each in spec["volumes"] if "projected" in each]
    (source,) = [each["projected"]["sources"] for each in spec["volumes"] if "projected" in each]
    assert source == [{"secret": {"name": "git", "items": items}}]
    assert volume in {each["name"] for each in init["volumeMounts"]}
    assert volume not in {each["name"] for each in trainer(spec)["volumeMounts"]}
    assert "secretKeyRef" not in json.dumps(trainer(spec))
    assert "args" not in init
    (secret,) = [each for each in result.unit.externals if each.kind == "Secret" and each.keys]
    assert (secret.name, secret.keys) == ("git", ("token",))
