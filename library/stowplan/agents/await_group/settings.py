"""Settings of the await agent, from arguments, environment and configuration file."""

import ipaddress
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stowplan.agents.await_group.helper import Helper
from stowplan.agents.runtime.arguments import Arguments, parse
from stowplan.agents.runtime.settings import SettingsError, read_config
from stowplan.schema.agents.agent_config import POD_ENV, RUN_ENV
from stowplan.schema.agents.await_config import POD_IP_ENV, RUN_HASH_LENGTH, AwaitConfig, job_name

_RUN = re.compile(rf"(.+-)?[a-z2-7]{{{RUN_HASH_LENGTH}}}")

_ABOUT = """\
Waits for the Jobs that decide the success of a training group, in the pod of a helper that would not end by itself, and
fails them when the helper is lost."""

_CODES = """\
exit codes: 0 all deciding Jobs are complete; 1 one failed or was deleted; 2 wrong usage or configuration; 3 no right to
read or change them; 10 a fault of this program; 143 ended by SIGTERM before the outcome"""


@dataclass(frozen=True, slots=True)
class AwaitSettings:
    """Everything that the await agent needs to know."""

    namespace: str
    jobs: tuple[str, ...]
    """Full names of the deciding Jobs."""
    helper: Helper
    """What is to be watched in this pod, before anything was seen."""
    pod_ip: str
    """Address of the pod; may be empty if the helper has no ports."""

    @property
    def ports(self) -> tuple[int, ...]:
        """Ports of the helper; empty to probe none."""
        return tuple(self.helper.closed)


def arguments(words: Sequence[str]) -> Arguments:
    """Parse the command line. Raises SystemExit: 2 for wrong arguments, 0 after `--help`."""
    return parse(words, "stowplan.agents.await_group", about=_ABOUT, codes=_CODES)


def settings(given: Arguments, environment: Mapping[str, str]) -> AwaitSettings:
    """Return the settings, by file and variables of the pod. Raises SettingsError if something is missing or wrong."""
    config = read_config(given.config, AwaitConfig.model_validate_json)
    run, pod_ip, pod = (environment.get(name, "") for name in (RUN_ENV, POD_IP_ENV, POD_ENV))
    if not _RUN.fullmatch(run):
        raise SettingsError(f"{RUN_ENV} must be the hash of the run, or a name that ends in it, but it is {run!r}")
    if config.ports and not _is_address(pod_ip):
        raise SettingsError(f"{POD_IP_ENV} must be the address of the pod, but it is {pod_ip!r}")
    if not pod:
        raise SettingsError(f"{POD_ENV} must be the name of the pod, but it is missing")
    names = tuple(dict.fromkeys(job_name(stem, run) for stem in config.jobs))
    closed, timeout = dict.fromkeys(config.ports, 0.0), config.helper_timeout_seconds
    own = Helper(pod, config.container or "", timeout, config.must_listen, config.replaceable, closed)
    return AwaitSettings(config.namespace, names, own, pod_ip)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
