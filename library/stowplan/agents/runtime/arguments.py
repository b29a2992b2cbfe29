"""Command line that all agents share, and the message for an invalid configuration file."""

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
    """Parsed command line."""

    config: Path
    account: Path
    log_format: Format


def parse(words: Sequence[str], module: str, *, about: str, codes: str) -> Arguments:
    """Parse the arguments of `python -m <module>`. Raises SystemExit: 2 for wrong arguments, 0 after `--help`."""
    given = parser(module, about=about, codes=codes).parse_args(words)
    return Arguments(given.config, given.service_account, given.log_format)


def parser(module: str, *, about: str, codes: str) -> argparse.ArgumentParser:
    """Return the shared parser, for a program that adds arguments of its own."""
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
    """Return a parser for a program without a configuration file and without an API server."""
    made = argparse.ArgumentParser(prog=f"python -m {module}", description=about, epilog=codes)
    made.add_argument(
        "--log-format", choices=FORMATS, default="json", help="`json`, one object a line, or `text` for people"
    )
    return made


def config_problem(path: Path, error: OSError | ValidationError) -> str:
    """Return a sentence about an unreadable or invalid configuration. It does not quote the invalid value."""
    if isinstance(error, OSError):
        return f"The configuration cannot be read: {error}"
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    return f"The configuration {path} is wrong: {f'{place}: ' if place else ''}{first['msg']}"
