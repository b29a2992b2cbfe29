"""Entry of `python -m stowplan.agents.hold_lineage`."""

from stowplan.agents.runtime.entry import start
from stowplan.schema.agents.exit_codes import ExitCode

if __name__ == "__main__":
    # Nothing is held yet. The sidecar of a job that has ended may end with 0.
    start("wait.lineage.command", ExitCode.DONE)
