"""Settings of the reporter, from arguments, environment and configuration file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stowplan.agents.cluster import access
from stowplan.agents.cluster.access import Access
from stowplan.agents.runtime.arguments import Arguments, parse
from stowplan.agents.runtime.settings import read_config
from stowplan.schema.agents.reporter_config import MxnetSuccess, ReporterConfig

_ABOUT = """\
Watches the Jobs, JobSets, StatefulSets and pods that were compiled from the custom resources of one namespace, and
writes their status. `probe` instead of options tells whether a reporter in the same pod is at work."""

_CODES = (
    "exit codes: 0 ended by a signal, or alive; 1 not alive; 2 wrong usage or configuration; 10 a fault of this program"
)


@dataclass(frozen=True, slots=True)
class ReporterSettings:
    """Everything that the reporter needs to know."""

    access: Access
    namespace: str
    job_sets: bool
    """Whether the cluster has JobSets, so that the reporter must watch them."""
    mxnet_success: MxnetSuccess
    """The role that decides the success of a distributed MxJob."""


def arguments(words: Sequence[str]) -> Arguments:
    """Parse the command line. Raises SystemExit: 2 for wrong arguments, 0 after `--help`."""
    return parse(words, "stowplan.agents.reporter", about=_ABOUT, codes=_CODES)


def settings(given: Arguments, environment: Mapping[str, str]) -> ReporterSettings:
    """Return the settings. Raises SettingsError if something is missing or wrong."""
    config = read_config(given.config, ReporterConfig.model_validate_json)
    reach = access.from_pod(environment, given.account)
    return ReporterSettings(reach, config.namespace, config.job_sets, config.mxnet_success)
