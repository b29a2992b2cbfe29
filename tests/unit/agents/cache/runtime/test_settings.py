"""Settings of the program `runtime`."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from stowplan.agents.cache.drivers.juicefs.measure import JuiceFS
from stowplan.agents.cache.runtime.settings import MEMORY_ENV, RuntimeSettings, arguments, settings
from stowplan.agents.cache.runtime.space import Space
from stowplan.agents.runtime.settings import SettingsError
from stowplan.schema.agents.agent_config import POD_ENV


def read(folder: Path, *, memory: str = "", **fields: Any) -> RuntimeSettings:
    config = {
        "task": "runtime",
        "target": {"kind": "SampleSet", "namespace": "ml", "name": "imagenet"},
        "reportPhase": False,
        "mountPath": "/mnt/imagenet",
        "partitions": 1,
        "cacheSizeMiB": 1024,
        "mountOptions": [],
        "synced": True,
        "warmed": True,
        **fields,
    }
    path = folder / "config.json"
    path.write_text(json.dumps(config))
    return settings(arguments(["--config", str(path)]), {POD_ENV: "imagenet-runtime-0", MEMORY_ENV: memory})


@pytest.mark.parametrize("fields", [{}, {"driver": "juicefs"}])
def test_the_driver_of_the_dataset_measures_it(tmp_path: Path, fields: dict[str, Any]) -> None:
    assert isinstance(read(tmp_path, **fields).driver, JuiceFS)


def test_a_driver_that_the_agent_does_not_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="'toy'"):
        read(tmp_path, driver="toy")


def test_the_space_of_a_cache_is_bounded_by_the_memory_of_the_node(tmp_path: Path) -> None:
    options = ["cache-dir=/dev/shm/a:/ram/b:/data/c", "cache-expire=1h"]
    fields: dict[str, Any] = {"mountOptions": options, "memoryDirectories": ["/ram/b"]}
    own = Path("/proc/meminfo")
    assert read(tmp_path, **fields).space == Space(1 << 30, Fraction(2, 3), expires=True, memory_file=own)
    assert read(tmp_path, memory="/a").space.memory_file == Path("/a")
