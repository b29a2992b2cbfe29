"""The command line that all agents have, and what is wrong with a configuration file in words."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from stowplan.agents.cluster import access
from stowplan.agents.runtime.log import FORMATS, Format
from stowplan.schema.agents.cache_config import CONFIG_DIRECTORY, CONFIG_FILE


@dataclass(frozen=True, slots=True)
class Arguments:
    """The command line."""

    config: Path
    account: Path
    log_format: Format


def parse(words: Sequence[str], module: str, *, about: str, codes: str) -> Arguments:
    """Reads the command line of `python -m <module>`; SystemExit 2 if it is wrong, 0 after `--help`."""
    given = parser(module, about=about, codes=codes).parse_args(words)
    return Arguments(given.config, given.service_account, given.log_format)


def parser(module: str, *, about: str, codes: str) -> argparse.ArgumentParser:
    """The same for a program that takes more than these."""
    made = bare_parser(module, about=about, codes=codes)
    default = Path(CONFIG_DIRECTORY) / CONFIG_FILE
    made.add_argument("--config", type=Path, default=default, metavar="FILE", help="default: %(default)s")
    made.add_argument(
        "--service-account",
        type=Path,
        default=access.ACCOUNT_DIRECTORY,
        metavar="DIRECTORY",
        help="holds `token` and `ca.crt`; default: %(default)s",
    )
    return made


def bare_parser(module: str, *, about: str, codes: str) -> argparse.ArgumentParser:
    """For a program that neither reads a configuration nor speaks with an API server."""
    made = argparse.ArgumentParser(prog=f"python -m {module}", description=about, epilog=codes)
    made.add_argument(
        "--log-format", choices=FORMATS, default="json", help="`json`, one object a line, or `text` for people"
    )
    return made


def config_problem(path: Path, error: OSError | ValidationError) -> str:
    """A sentence on a configuration that cannot be read or is wrong, without the value that was found."""
    if isinstance(error, OSError):
        return f"The configuration cannot be read: {error}"
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    return f"The configuration {path} is wrong: {f'{place}: ' if place else ''}{first['msg']}"
