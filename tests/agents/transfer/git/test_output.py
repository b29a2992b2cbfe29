"""An output of a Training that is a clone, whose branch is pushed to a real Git server."""

import json
import os
import subprocess
import sys
from pathlib import Path

from stowplan.library.values import labels
from tests.agents.transfer.git.author import author
from tests.agents.transfer.git.server import TOKEN, Forge
from tests.unit.trainings import compiled, dataset, training


def test_the_branch_that_the_run_committed_to_is_pushed(forge: Forge, tmp_path: Path) -> None:
    forge.users = {"oauth2": TOKEN}
    runs = dataset("runs", volume={"claim": {"name": "scratch"}})
    output = {
        "path": "/runs/out",
        "to": {"git": {"url": "https://git.example.com/ml/model.git", "secretRef": {"name": "git"}}},
    }
    mounts = [{"name": "runs", "mountPath": "/runs", "readOnly": False}]
    made = compiled(training(numNodes=2, datasets=mounts, outputs=[output]), runs).unit.manifests
    (job,) = [each.body for each in made if labels.OUTPUT in each.body["metadata"]["labels"]]
    (container,) = job["spec"]["template"]["spec"]["containers"]
    (found,) = [each.body for each in made if each.kind == "ConfigMap"]
    config = json.loads(found["data"]["config.json"])
    claim = tmp_path / "claim"
    config["source"]["mountPath"], config["skipFile"] = str(claim), str(tmp_path / "skipped")
    writer = author(tmp_path / "author", forge, "model.git")
    clone = claim / "ml/runs/out/model"
    clone.mkdir(parents=True)
    subprocess.run(["cp", "-r", f"{writer.folder}/.", clone], check=True)
    trained = type(writer)(clone, forge, writer.name)
    trained.git("commit", "-q", "--allow-empty", "-m", "Trained")
    (tmp_path / "config.json").write_text(json.dumps(config))
    values = {each["name"]: each["value"] for each in container["env"] if "value" in each}
    values |= {"URL": f"{forge.url}/model.git", "TOKEN": TOKEN, "STOWPLAN_RUN": "run-a"}
    values |= {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    command = [sys.executable, *container["command"][1:], f"--config={tmp_path / 'config.json'}", "--allow-loopback"]
    done = subprocess.run(command, env=values, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert writer.git("--git-dir", str(writer.bare), "rev-parse", "main") == trained.head
    assert TOKEN not in done.stdout + done.stderr
