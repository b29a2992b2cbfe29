"""Entry of `python -m stowplan.agents.await_group`."""

import sys

from stowplan.agents.runtime.early_signal import end_with
from stowplan.schema.agents.exit_codes import TERMINATED

if __name__ == "__main__":
    end_with(TERMINATED)
    from stowplan.agents.await_group.wait_loop import main

    sys.exit(main())
