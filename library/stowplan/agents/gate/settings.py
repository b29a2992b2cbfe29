"""Settings of the gate, from arguments, environment and configuration file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stowplan.agents.cluster import access
from stowplan.agents.cluster.access import Access
from stowplan.agents.cluster.custom_resources import SERVED
from stowplan.agents.cluster.place import ObjectAddress, job, job_set
from stowplan.agents.runtime.arguments import Arguments, parse
from stowplan.agents.runtime.settings import SettingsError, read_config
from stowplan.schema.agents.gate_config import GateConfig, GateObject

_ABOUT = """\
Opens the run of a training job, which is compiled closed, once all that it waits for is ready: datasets, and
other specs that must be done first."""

_CODES = """\
exit codes: 0 the run is open; 2 wrong usage or configuration; 10 a fault of this program; 143 ended by SIGTERM before
the run was open"""


@dataclass(frozen=True, slots=True)
class GateSettings:
    """Everything that the gate needs to know."""

    access: Access
    config: GateConfig

    def resource(self, kind: str, name: str) -> ObjectAddress:
        """Return the address of a custom resource."""
        return SERVED[kind].place(self.config.namespace, name)

    def workload(self, found: GateObject) -> ObjectAddress:
        """Return the address of a Job or JobSet."""
        place = job if found.kind == "Job" else job_set
        return place(self.config.namespace, found.name)


def arguments(words: Sequence[str]) -> Arguments:
    """Parse the command line. Raises SystemExit: 2 for wrong arguments, 0 after `--help`."""
    return parse(words, "stowplan.agents.gate", about=_ABOUT, codes=_CODES)


def settings(given: Arguments, environment: Mapping[str, str]) -> GateSettings:
    """Return the settings. Raises SettingsError if something is missing or wrong."""
    config = read_config(given.config, GateConfig.model_validate_json)
    for kind in (config.owner.kind, *(wait.kind for wait in config.waits)):
        if kind not in SERVED:
            raise SettingsError(f"The configuration {given.config} names {kind}, which is no kind of Stowplan")
    return GateSettings(access.from_pod(environment, given.account), config)
