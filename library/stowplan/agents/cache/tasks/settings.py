"""What a task is told: arguments and configuration file."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from stowplan.agents.arguments import config_problem
from stowplan.agents.cluster import access
from stowplan.agents.log import FORMATS, Format
from stowplan.schema.agent_config import (
    CONFIG_DIRECTORY,
    CONFIG_FILE,
    CacheConfig,
    ClearConfig,
    RmrConfig,
    SyncConfig,
    WarmupConfig,
)

TaskConfig = SyncConfig | WarmupConfig | RmrConfig | ClearConfig
"""Configurations of programs that end."""

_CODES = """\
exit codes: 0 done; 2 wrong usage or configuration; 3 no access; 4 not found; 5 a conflict that a person must solve;
10 may pass by itself; 12 soft deadline; 143 ended by SIGTERM"""


class SettingsError(Exception):
    """A sentence that says what is wrong, without the value of a secret."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """The command line."""

    task: str
    config: Path
    account: Path
    log_format: Format
    partition: int


def arguments(words: Sequence[str]) -> Arguments:
    """The command line, whose first word is the task; SystemExit 2 if it is wrong, 0 after `--help`."""
    parser = argparse.ArgumentParser(
        prog=f"python -m stowplan.agents.cache {words[0]}", description="Makes one attempt at a task.", epilog=_CODES
    )
    default = Path(CONFIG_DIRECTORY) / CONFIG_FILE
    parser.add_argument("--config", type=Path, default=default, metavar="FILE", help="default: %(default)s")
    parser.add_argument("--partition", type=int, default=0, metavar="NUMBER", help="of the cache node, from 0")
    parser.add_argument(
        "--service-account",
        type=Path,
        default=access.ACCOUNT_DIRECTORY,
        metavar="DIRECTORY",
        help="holds `token` and `ca.crt`; default: %(default)s",
    )
    parser.add_argument(
        "--log-format", choices=FORMATS, default="json", help="`json`, one object a line, or `text` for people"
    )
    given = parser.parse_args(words[1:])
    if given.partition < 0:
        parser.error("--partition: must be 0 or more")
    return Arguments(words[0], given.config, given.service_account, given.log_format, given.partition)


def read(given: Arguments) -> TaskConfig:
    """The configuration of this very task; SettingsError else."""
    adapter: TypeAdapter[CacheConfig] = TypeAdapter(CacheConfig)
    try:
        config = adapter.validate_json(given.config.read_bytes())
    except (OSError, ValidationError) as error:
        raise SettingsError(config_problem(given.config, error)) from None
    if isinstance(config, TaskConfig) and config.task == given.task:
        return config
    raise SettingsError(f"The configuration {given.config} is wrong: it is for {config.task}, not for {given.task}")
