"""Outputs of a Training with compiled configuration: to a bucket of a real store, to another claim, or not at all."""

import json
from pathlib import Path
from typing import Any

from stowplan.library.manifest import Json
from stowplan.library.values import labels
from tests.agents.ended import Ended
from tests.agents.transfer.agent import files, started
from tests.agents.transfer.server import ACCESS_KEY, SECRET_KEY, Storage
from tests.unit.trainings import compiled, dataset, training

MOUNT = {"name": "runs", "mountPath": "/runs", "readOnly": False}


class Copier:
    """The container that copies an output as a process, and folders in the place of its claims."""

    def __init__(self, folder: Path, to: dict[str, Any]) -> None:
        self.folder = folder
        self.data, self.archive = folder / "scratch", folder / "archive"
        for each in (self.data / "ml/runs/final", self.archive):
            each.mkdir(parents=True)
        runs = dataset("runs", volume={"claim": {"name": "scratch"}})
        job = training(numNodes=2, datasets=[MOUNT], outputs=[{"path": "/runs/final", "to": to}])
        made = compiled(job, runs).unit.manifests
        (found,) = [each.body for each in made if labels.OUTPUT in each.body["metadata"]["labels"]]
        self.pod: Json = found["spec"]["template"]["spec"]
        (config,) = [each.body for each in made if each.kind == "ConfigMap"]
        self.config: Json = json.loads(config["data"]["config.json"])
        self.skip = folder / "skipped"
        self.config["skipFile"] = str(self.skip)
        for side in ("source", "sink"):
            if self.config[side]["type"] == "pvc":
                self.config[side]["mountPath"] = str(folder / self.config[side]["claim"])

    def run(self) -> Ended:
        (container,) = self.pod["containers"]
        variables = {each["name"]: each["value"] for each in container["env"] if "value" in each}
        variables |= {"S3_ACCESS_KEY_ID": ACCESS_KEY, "S3_SECRET_ACCESS_KEY": SECRET_KEY, "STOWPLAN_RUN": "run-a"}
        with started(self.folder, self.config, variables) as process:
            output, _ = process.communicate(timeout=120)
            return Ended(process.returncode, output)


def test_an_output_is_copied_to_a_bucket_and_copied_again_only_where_it_changed(
    storage: Storage, tmp_path: Path
) -> None:
    place = {"uri": f"s3://{storage.bucket}/sft", "endpoint": storage.endpoint, "region": "us-east-1"}
    copier = Copier(tmp_path, {"s3": {**place, "secretRef": {"name": "models"}}})
    (copier.data / "ml/runs/final/model").write_bytes(b"weights")
    (copier.data / "ml/runs/step-1").write_bytes(b"not an output")
    assert copier.run().code == 0
    assert storage.read() == {"sft/model": b"weights"}
    (copier.data / "ml/runs/final/card").write_bytes(b"card")
    assert copier.run().code == 0
    assert storage.read() == {"sft/model": b"weights", "sft/card": b"card"}


def test_an_output_is_copied_to_another_claim(tmp_path: Path) -> None:
    copier = Copier(tmp_path, {"claim": {"name": "archive", "subPath": "sft"}})
    (copier.data / "ml/runs/final/model").write_bytes(b"weights")
    assert copier.run().code == 0
    assert files(copier.archive / "sft") == {"model": b"weights"}


def test_an_output_that_is_not_needed_is_not_copied_and_its_pod_succeeds(tmp_path: Path) -> None:
    copier = Copier(tmp_path, {"claim": {"name": "archive", "subPath": "sft"}})
    (copier.data / "ml/runs/final/model").write_bytes(b"weights")
    copier.skip.write_text("The run failed, and this output is for success")
    ended = copier.run()
    assert (ended.code, "this output is for success" in ended.output, '"Skipped"' in ended.output) == (0, True, True)
    assert files(copier.archive) == {}


def test_an_output_that_the_run_did_not_write_fails_for_good(tmp_path: Path) -> None:
    copier = Copier(tmp_path, {"claim": {"name": "archive"}})
    (copier.data / "ml/runs/final").rmdir()
    ended = copier.run()
    assert (ended.code, "is not there" in ended.output) == (4, True)
