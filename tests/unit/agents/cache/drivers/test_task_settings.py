"""Settings of a task, from arguments and configuration file."""

import json
from pathlib import Path

import pytest

from stowplan.agents.cache.drivers.task_settings import arguments, read
from stowplan.schema.agents.cache_config import WarmupConfig

CONFIG = {
    "format": 1,
    "target": {"kind": "SampleSet", "namespace": "ml", "name": "data"},
    "reportPhase": False,
    "dataset": "data",
    "task": "warmup",
    "mountPath": "/mnt/data",
    "paths": [],
    "strategy": "sequence",
    "partitions": 1,
    "threshold": 99,
}


def partitions(folder: Path, *words: str) -> int:
    path = folder / "config.json"
    path.write_text(json.dumps(CONFIG))
    config = read(arguments(["warmup", f"--config={path}", "--partition", "1", *words]))
    assert isinstance(config, WarmupConfig)
    return config.partitions


def test_a_node_that_was_added_later_knows_how_many_there_were_then(tmp_path: Path) -> None:
    assert partitions(tmp_path, "--partitions", "3") == 3
    assert partitions(tmp_path) == 1


def test_a_number_of_nodes_below_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        partitions(tmp_path, "--partitions", "0")
