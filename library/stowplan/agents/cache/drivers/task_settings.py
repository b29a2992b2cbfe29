"""Settings of a task (sync, warmup, rmr or clear), from arguments and configuration file."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter

from stowplan.agents.runtime.arguments import Arguments, parser
from stowplan.agents.runtime.settings import SettingsError, read_config
from stowplan.schema.agents.cache_config import CacheConfig, ClearConfig, RmrConfig, SyncConfig, WarmupConfig

TaskConfig = SyncConfig | WarmupConfig | RmrConfig | ClearConfig
"""Configuration of any task, as opposed to the configuration of the cache agent's `runtime`, which never ends."""

_CODES = """\
exit codes: 0 done; 2 wrong usage or configuration; 3 no access; 4 not found; 5 a conflict that a person must solve;
10 may pass by itself; 12 soft deadline; 143 ended by SIGTERM"""


@dataclass(frozen=True, slots=True)
class TaskArguments(Arguments):
    """Parsed command line."""

    task: str
    """`sync`, `warmup`, `rmr` or `clear`."""
    partition: int
    """Number, from 0, of the partition (the cache of one cluster node) on which the task works."""
    partitions: int | None = None
    """Number of partitions when this one was added; None for the number in the configuration file."""


def arguments(words: Sequence[str]) -> TaskArguments:
    """Parse the command line, whose first word is the task.

    Raises SystemExit: 2 for wrong arguments, 0 after `--help`.
    """
    known = parser(f"stowplan.agents.cache {words[0]}", about="Makes one attempt at a task.", codes=_CODES)
    known.add_argument("--partition", type=int, default=0, metavar="NUMBER", help="of the cache node, from 0")
    more = "how many cache nodes there were when this one was added"
    known.add_argument("--partitions", type=int, default=None, metavar="NUMBER", help=more)
    given = known.parse_args(words[1:])
    if given.partition < 0:
        known.error("--partition: must be 0 or more")
    if given.partitions is not None and given.partitions < 1:
        known.error("--partitions: must be 1 or more")
    own = words[0], given.partition, given.partitions
    return TaskArguments(given.config, given.service_account, given.log_format, *own)


def read(given: TaskArguments) -> TaskConfig:
    """Return the configuration of this task. Raises SettingsError if it is wrong or belongs to another task."""
    adapter: TypeAdapter[CacheConfig] = TypeAdapter(CacheConfig)
    config = read_config(given.config, adapter.validate_json)
    if isinstance(config, WarmupConfig) and given.partitions is not None:
        config = config.model_copy(update={"partitions": given.partitions})
    if isinstance(config, TaskConfig) and config.task == given.task:
        return config
    raise SettingsError(f"The configuration {given.config} is wrong: it is for {config.task}, not for {given.task}")
