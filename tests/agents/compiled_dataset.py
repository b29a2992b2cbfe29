"""A compiled Dataset, whose Jobs run as processes in the role of its pods."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stowplan.library.dialects.dataset import lower as dataset
from stowplan.library.dialects.dataset_task import lower as dataset_task
from stowplan.library.manifest import Json
from stowplan.schema.kinds.native.dataset import Dataset
from stowplan.schema.kinds.native.dataset_task import DatasetTask
from tests.agents.ended import Ended
from tests.unit.specs import context

USER = 65532
"""The user of every agent."""

AS_USER = (
    "setpriv",
    f"--reuid={USER}",
    f"--regid={USER}",
    "--clear-groups",
    # Rights to find Python and other programs in the folders of the user who runs the tests.
    "--inh-caps=+dac_read_search",
    "--ambient-caps=+dac_read_search",
)
"""What starts a process as the user of the agents."""


def compiled(spec: Mapping[str, Any], **platform: Any) -> list[Json]:
    """The manifests of the Dataset ml/corpus with this spec, for a platform with these fields."""
    lowered = dataset.lower(_dataset(spec), context(**platform))
    assert [each.code for each in lowered.findings] == []
    return [each.body for each in lowered.unit.manifests]


def compiled_task(spec: Mapping[str, Any], of: Mapping[str, Any]) -> list[Json]:
    """The manifests of the DatasetTask ml/work with this spec, on the Dataset ml/corpus with the spec `of`."""
    body = {
        "apiVersion": "stowplan.dev/v1alpha1",
        "kind": "DatasetTask",
        "metadata": {"name": "work", "namespace": "ml"},
    }
    task = DatasetTask.model_validate({**body, "spec": {"datasetRef": {"name": "corpus"}, **spec}})
    lowered = dataset_task.lower(task, context(_dataset(of)))
    assert [each.code for each in lowered.findings] == []
    return [each.body for each in lowered.unit.manifests]


def _dataset(spec: Mapping[str, Any]) -> Dataset:
    metadata = {"name": "corpus", "namespace": "ml"}
    body = {"apiVersion": "stowplan.dev/v1alpha1", "kind": "Dataset", "metadata": metadata, "spec": spec}
    return Dataset.model_validate(body)


@dataclass
class CompiledDataset:
    """A Dataset whose volume is in the folder `place`."""

    manifests: list[Json]
    folder: Path
    """For configurations and scratch."""
    place: Path
    variables: Mapping[str, str]
    """What the pods get from Secrets, and what only tests set."""
    remote: Mapping[str, Any] = field(default_factory=dict)
    """Fields that only tests set in the configuration of the remote side."""
    prefix: Sequence[str] = ()
    """Words before the command of an agent."""
    arguments: Sequence[str] = ()
    """Further arguments of an agent."""

    @property
    def run_of_sync(self) -> str:
        return str(self._task("Job", "sync")["metadata"]["name"])

    def sync(self) -> Ended:
        return self._run(self._task("Job", "sync"), self.run_of_sync)

    def syncing(self) -> AbstractContextManager["subprocess.Popen[str]"]:
        """A sync that runs; it is killed in the end."""
        return self._started(self._task("Job", "sync"), self.run_of_sync)

    def warmup(self) -> Ended:
        job = self._task("Job", "warmup")
        return self._run(job, job["metadata"]["name"])

    def refresh(self, minute: int) -> Ended:
        """What the CronJob of the refresh starts at this minute."""
        job = self._task("CronJob", "sync")
        return self._run(job, f"{job['metadata']['name']}-{minute}")

    def refreshing(self, minute: int) -> AbstractContextManager["subprocess.Popen[str]"]:
        """A refresh that runs; it is killed in the end."""
        job = self._task("CronJob", "sync")
        return self._started(job, f"{job['metadata']['name']}-{minute}")

    def warmup_after_refresh(self, minute: int) -> Ended:
        job = self._task("CronJob", "warmup")
        return self._run(job, f"{job['metadata']['name']}-{minute}")

    def _task(self, kind: str, component: str) -> Json:
        (found,) = [
            each
            for each in self.manifests
            if each["kind"] == kind and each["metadata"]["labels"]["app.kubernetes.io/component"] == component
        ]
        return found

    def _run(self, job: Json, run: str) -> Ended:
        with self._started(job, run) as process:
            output, _ = process.communicate(timeout=180)
            return Ended(process.returncode, output)

    @contextmanager
    def _started(self, job: Json, run: str) -> Iterator["subprocess.Popen[str]"]:
        spec = job["spec"].get("jobTemplate", job)["spec"]["template"]["spec"]
        (container,) = spec["containers"]
        (name,) = [each["configMap"]["name"] for each in spec["volumes"] if "configMap" in each]
        (config_map,) = [each for each in self.manifests if each["metadata"]["name"] == name]
        config = json.loads(config_map["data"]["config.json"])
        transfers = config["task"] == "transfer"
        (config["sink"] if transfers else config)["mountPath"] = str(self.place)
        if transfers:
            config["source"] |= self.remote
        path, scratch = self.folder / f"{run}.json", self.folder / f"scratch-{run}"
        path.write_text(json.dumps(config))
        scratch.mkdir(exist_ok=True)
        scratch.chmod(0o777)
        words = [*container["command"][1:], *container.get("args", ()), f"--config={path}", *self.arguments]
        command = [*self.prefix, sys.executable, *words, *(["--allow-loopback"] if transfers else [])]
        own = {each["name"]: each["value"] for each in container["env"] if "value" in each}
        own |= {"HOME": str(scratch), "TMPDIR": str(scratch), "STOWPLAN_RUN": run, "STOWPLAN_POD": "pod"}
        with subprocess.Popen(
            command,
            env={"PATH": os.environ["PATH"], **own, **self.variables},
            cwd=scratch,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ) as process:
            try:
                yield process
            finally:
                process.kill()
