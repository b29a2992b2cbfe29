"""Settings of a transfer, from the command line, environment variables and the configuration file."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.attempt.network import OF_A_POD, Network
from stowplan.agents.attempt.redaction import in_url
from stowplan.agents.runtime.arguments import Arguments, parser
from stowplan.agents.runtime.settings import SettingsError, read_config
from stowplan.agents.transfer.network.throttle import STREAM_BYTES
from stowplan.schema.agents.agent_config import RUN_ENV
from stowplan.schema.agents.transfer_config import PROXY_ENV, SECRETS_DIRECTORY, PvcEndpoint, TransferConfig
from stowplan.schema.remotes.remote import RemoteEndpoint

_COMMAND = "stowplan-transfer"
"""Name of the program outside of a cluster."""

_ABOUT = """\
Copies between a directory and an S3 bucket, a Hugging Face repository, a Git repository or another directory: what is
there already is left alone, what was begun goes on where it was. Without a cluster it does the same on any machine,
and reports in its log alone."""

_CODES = """\
exit codes: 0 done; 2 wrong usage or configuration; 3 no access; 4 not found; 5 a conflict that a person must solve;
10 may pass by itself; 11 what came was not what was sent; 12 soft deadline; 143 ended by SIGTERM"""

BASE_MIB = 60
"""Memory in MiB that the program uses before the transfer begins."""


@dataclass(frozen=True, slots=True)
class Values:
    """Options of users, which the compiler passes as environment variables since any of them may come from a Secret."""

    environment: Mapping[str, str]

    def optional(self, name: str | None, *, secret: bool = False) -> str | None:
        """Return the value of an environment variable, without trailing newlines and surrounding blanks.

        With `secret`, blanks are kept: a password or a secret key may begin or end with one. Do not use it for a token
        that is sent in an HTTP header of its own, which cannot hold such blanks.

        Returns None if `name` is None, or if the variable is not set or empty. A variable that is not set is no error:
        the kubelet leaves out a variable whose key of a Secret is optional and missing. Raises SettingsError if the
        value holds a control character.
        """
        if name is None or name not in self.environment:
            return None
        value = self.environment[name].rstrip("\r\n")
        if any(ord(character) < 32 or ord(character) == 127 for character in value):
            raise SettingsError(f"The value of {name} holds a newline or another control character")
        return (value if secret else value.strip()) or None

    def required(self, name: str, *, secret: bool = False) -> str:
        """Return the value as `optional` does. Raises SettingsError if it is missing or empty."""
        value = self.optional(name, secret=secret)
        if value is None:
            what = "empty" if name in self.environment else "not set"
            raise SettingsError(f"The environment variable {name} is {what}")
        return value


@dataclass(frozen=True, slots=True)
class TransferArguments(Arguments):
    """Parsed command line."""

    allow_loopback: bool
    """True if the remote side may be a server on this machine."""
    secrets: Path
    """Directory with the files of secret values."""


@dataclass(frozen=True, slots=True)
class TransferSettings:
    """Settings that every engine needs. `upload` is False if the sink is a claim, else True."""

    config: TransferConfig
    upload: bool
    remote: RemoteEndpoint | PvcEndpoint
    """The other side than `local`: the source of a copy from one claim to another."""
    local: PvcEndpoint
    """The claim; of two claims it is that of the sink."""
    run: str | None
    """Name of the run, or its hash; None if the environment has none, as outside of a cluster."""
    values: Values
    """Options from environment variables. Each engine reads its own."""
    network: Network = OF_A_POD
    """Rule for the IP addresses that an engine may connect to."""

    @property
    def claim(self) -> Path:
        """Path where the claim is mounted. It is absolute, since child processes have other working directories."""
        return Path(self.local.mount_path).absolute()

    @property
    def free_mib(self) -> int:
        """Memory in MiB that the engine may use: the limit of the pod without `BASE_MIB`."""
        return self.config.memory_mib - BASE_MIB

    @property
    def streams(self) -> int:
        """Maximum number of parallel requests. Each needs about 4 MiB of memory, whatever the size of its part.

        With a limit of the speed each can have `STREAM_BYTES` per second.
        """
        most, limit = min(self.config.parallelism, self.free_mib // 4), self.config.max_bytes_per_second
        return max(1, most if limit is None else min(most, limit // STREAM_BYTES))


def arguments(words: Sequence[str]) -> TransferArguments:
    """Parse the command line after the program's name. Raises SystemExit: 2 for wrong arguments, 0 after `--help`."""
    known = parser("stowplan.agents.transfer", about=_ABOUT, codes=_CODES)
    if Path(sys.argv[0]).name == _COMMAND:
        known.prog = _COMMAND
    known.add_argument(
        "--allow-loopback", action="store_true", help="let the remote side be a server on this very machine"
    )
    known.add_argument(
        "--secrets",
        type=Path,
        default=Path(SECRETS_DIRECTORY),
        metavar="DIRECTORY",
        help="holds files that are named by variables and have their values; default: %(default)s",
    )
    given = known.parse_args(words)
    return TransferArguments(given.config, given.service_account, given.log_format, given.allow_loopback, given.secrets)


def read(path: Path) -> TransferConfig:
    """Return the configuration in a file. Raises SettingsError if it cannot be read or is invalid."""
    return read_config(path, TransferConfig.model_validate_json)


def with_files(environment: Mapping[str, str], directory: Path) -> dict[str, str]:
    """Return the variables, and for each file of a directory, which may be missing, one with its name and content.

    Other programs cannot read a file of another container, nor is it passed on to child processes. The kubelet mounts
    a Secret as links to files. Raises SettingsError if a file cannot be read.
    """
    found = dict(environment)
    try:
        files = sorted(each for each in directory.iterdir() if each.is_file()) if directory.is_dir() else []
        found |= {each.name: each.read_text(encoding="utf-8") for each in files}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"The secret values in {directory} cannot be read: {type(error).__name__}") from None
    return found


def secrets(config: TransferConfig, environment: Mapping[str, str]) -> list[str]:
    """Return the strings that no output may hold: values of variables for keys and tokens, and credentials in URLs.

    Each value is in the list with and without surrounding blanks and newlines, and each of its lines is in it too.
    """
    remotes = [side for side in (config.source, config.sink) if isinstance(side, RemoteEndpoint)]
    names = [name for side in remotes for field in sorted(side.SECRETS) if (name := getattr(side, field))]
    # The clients of Hugging Face read a variable of their own.
    values = [environment[name] for name in (*names, "HF_TOKEN") if environment.get(name)]
    urls = [name for side in remotes for field in sorted(side.ADDRESSES) if (name := getattr(side, field))]
    proxies = [name for each in PROXY_ENV for name in (each, each.lower())]
    values += [found for name in (*urls, *proxies) for found in in_url(environment.get(name, ""))]
    return [form for value in values for form in (value, value.strip("\r\n"), value.strip(), *value.split("\n"))]


def settings(config: TransferConfig, environment: Mapping[str, str], network: Network = OF_A_POD) -> TransferSettings:
    """Return the settings that every engine needs. Raises SettingsError if the configuration is inconsistent.

    `environment` has the variables that `with_files` returns.
    """
    upload = not isinstance(config.sink, PvcEndpoint)
    local, remote = (config.source, config.sink) if upload else (config.sink, config.source)
    if not isinstance(local, PvcEndpoint):
        flow = f"{config.source.type} to {config.sink.type}"
        raise SettingsError(f"One side must be a claim, but the configuration says {flow}")
    if config.mirror and (upload or isinstance(remote, PvcEndpoint) or not remote.MIRRORS):
        raise SettingsError("`mirror` is for a source in S3 and a claim as its sink")
    if config.state is None and not upload:
        raise SettingsError("`state` is needed where the sink is a claim")
    for each in (config.source, config.sink):
        if isinstance(each, PvcEndpoint) and ({"..", "."} & set(each.path.split("/")) or each.path.startswith("/")):
            raise SettingsError(f"The path in the claim must be relative and without `..`, but it is {each.path!r}")
    if config.ca_bundle and not Path(config.ca_bundle).is_file():
        raise SettingsError(f"The file of caBundle, {config.ca_bundle}, is not there")
    return TransferSettings(
        config, upload, remote, local, environment.get(RUN_ENV) or None, Values(environment), network
    )
