"""Entry of `python -m stowplan.agents.reporter`, and of its probe: `python -m stowplan.agents.reporter probe`."""

import sys

from stowplan.agents.runtime.early_signal import end_with
from stowplan.schema.agents.exit_codes import ExitCode

if __name__ == "__main__":
    end_with(ExitCode.DONE)
    if sys.argv[1:] == ["probe"]:
        from stowplan.agents.reporter.probe import main
    else:
        from stowplan.agents.reporter.command import main

    sys.exit(main())
