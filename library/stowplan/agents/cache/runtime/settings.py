"""Settings of the program `runtime`, from arguments, environment and configuration file."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.cache.drivers.api import Driver
from stowplan.agents.cache.drivers.registry import measuring
from stowplan.agents.cache.runtime.space import MEMORY_FILE, Space, expires, memory_share
from stowplan.agents.runtime.arguments import Arguments, parse
from stowplan.agents.runtime.settings import SettingsError, read_config
from stowplan.schema.agents.agent_config import NODE_ENV, POD_ENV
from stowplan.schema.agents.cache_config import RuntimeConfig

_ABOUT = """\
Stays on a node, looks at the mounted dataset and its cache, and reports. It writes nothing into the dataset."""

_CODES = """\
exit codes: 2 wrong usage or configuration; 10 a fault of this program; 143 ended by SIGTERM"""

_POD = re.compile(r".+-(0|[1-9][0-9]{0,8})")

MIB = 1 << 20

MEMORY_ENV = "STOWPLAN_MEMINFO"
"""Environment variable with the path of a file to read in place of `/proc/meminfo`, for tests."""


@dataclass(frozen=True, slots=True)
class RuntimeSettings:
    """Everything that the program `runtime` needs to know."""

    config: RuntimeConfig
    driver: Driver
    """The driver that measures the dataset."""
    ordinal: int
    """Number of this cache pod in its StatefulSet, from 0; also the number of its partition."""
    node: str | None
    """Name of the cluster node; None if unknown."""
    space: Space
    """The space that is left in the cache, from its size, its directories and the memory of the cluster node."""

    @property
    def pace(self) -> float:
        """Return the minimum seconds between two measurements of the dataset's size.

        All cache pods measure the same dataset. So the pods after ordinal 0 measure more rarely, by a factor of the
        number of partitions.
        """
        return float(self.config.interval_seconds * (self.config.partitions if self.ordinal else 1))


def arguments(words: Sequence[str]) -> Arguments:
    """Parse the command line. Raises SystemExit: 2 for wrong arguments, 0 after `--help`."""
    return parse(words, "stowplan.agents.cache runtime", about=_ABOUT, codes=_CODES)


def settings(given: Arguments, environment: Mapping[str, str]) -> RuntimeSettings:
    """Return the settings, by file and variables of the pod. Raises SettingsError if something is missing or wrong."""
    config = read_config(given.config, RuntimeConfig.model_validate_json)
    pod = environment.get(POD_ENV, "")
    found = _POD.fullmatch(pod)
    if found is None:
        message = f"{POD_ENV} must be the name of a pod of a StatefulSet, which ends in its number, but it is {pod!r}"
        raise SettingsError(message)
    options, memory = config.mount_options, Path(environment.get(MEMORY_ENV) or MEMORY_FILE)
    share = memory_share(options, config.memory_directories or ())
    space = Space(config.cache_size_mib * MIB, share, expires(options), memory)
    return RuntimeSettings(config, measuring(config.driver), int(found[1]), environment.get(NODE_ENV) or None, space)
