"""Entry of `python -m stowplan.agents.wait_run`."""

import sys

from stowplan.agents.runtime.early_signal import end_with
from stowplan.schema.agents.exit_codes import TERMINATED

if __name__ == "__main__":
    end_with(TERMINATED)
    from stowplan.agents.wait_run.command import main

    sys.exit(main())
