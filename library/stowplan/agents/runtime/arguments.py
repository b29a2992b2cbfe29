"""Command-line options that all agents share."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.runtime.log import FORMATS, Format
from stowplan.schema.agents.agent_config import CONFIG_DIRECTORY, CONFIG_FILE

ACCOUNT_DIRECTORY = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Directory in which pods find `token` and `ca.crt` of their ServiceAccount."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """Parsed command line."""

    config: Path
    """Configuration file."""
    account: Path
    """Directory with `token` and `ca.crt` of the pod's ServiceAccount."""
    log_format: Format


def parse(words: Sequence[str], module: str, *, about: str, codes: str) -> Arguments:
    """Parse the arguments `words` of `python -m <module>`.

    The help shows `about` before the options and `codes`, the exit codes, after them. Raises SystemExit: 2 for wrong
    arguments, 0 after `--help`.
    """
    given = parser(module, about=about, codes=codes).parse_args(words)
    return Arguments(given.config, given.service_account, given.log_format)


def parser(module: str, *, about: str, codes: str) -> argparse.ArgumentParser:
    """Return a parser with the options that all agents with a configuration file share. The caller may add arguments.

    Its help is that of `python -m <module>`: `about` before the options and `codes`, the exit codes, after them.
    """
    made = account_parser(module, about=about, codes=codes)
    default = Path(CONFIG_DIRECTORY) / CONFIG_FILE
    made.add_argument("--config", type=Path, default=default, metavar="FILE", help="default: %(default)s")
    return made


def account_parser(module: str, *, about: str, codes: str) -> argparse.ArgumentParser:
    """Return a parser with `--log-format` and `--service-account`, for a program that needs no configuration file.

    Its help is that of `python -m <module>`: `about` before the options and `codes`, the exit codes, after them.
    """
    made = bare_parser(module, about=about, codes=codes)
    made.add_argument(
        "--service-account",
        type=Path,
        default=ACCOUNT_DIRECTORY,
        metavar="DIRECTORY",
        help="holds `token` and `ca.crt`; default: %(default)s",
    )
    return made


def bare_parser(module: str, *, about: str, codes: str) -> argparse.ArgumentParser:
    """Return a parser with `--log-format` only, for a program that needs neither configuration file nor Kubernetes API.

    Its help is that of `python -m <module>`: `about` before the options and `codes`, the exit codes, after them.
    """
    made = argparse.ArgumentParser(prog=f"python -m {module}", description=about, epilog=codes)
    made.add_argument(
        "--log-format", choices=FORMATS, default="json", help="`json`, one object a line, or `text` for people"
    )
    return made
