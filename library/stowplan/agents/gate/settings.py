"""Settings of the gate, from arguments and configuration file."""

from collections.abc import Mapping, Sequence

from stowplan.agents.runtime.arguments import Arguments, parse
from stowplan.agents.runtime.settings import SettingsError, read_config
from stowplan.schema.agents.gate_config import GateConfig
from stowplan.schema.kinds.table import KINDS

_ABOUT = """\
Opens the run of a training job, which is compiled closed, once all that it waits for is ready: datasets, and
other specs that must be done first."""

_CODES = """\
exit codes: 0 the run is open; 2 wrong usage or configuration; 10 a fault of this program; 143 ended by SIGTERM before
the run was open"""


def arguments(words: Sequence[str]) -> Arguments:
    """Parse the command line. Raises SystemExit: 2 for wrong arguments, 0 after `--help`."""
    return parse(words, "stowplan.agents.gate", about=_ABOUT, codes=_CODES)


def settings(given: Arguments, _: Mapping[str, str]) -> GateConfig:
    """Read the configuration. Raises SettingsError if something is missing or wrong."""
    config = read_config(given.config, GateConfig.model_validate_json)
    for kind in (config.owner.kind, *(wait.kind for wait in config.waits)):
        if kind not in KINDS:
            raise SettingsError(f"The configuration {given.config} names {kind}, which is no kind of Stowplan")
    return config
