"""Entry of `python -m stowplan.agents.wait_run`."""

from stowplan.agents.runtime.early_signal import end_with
from stowplan.schema.agents.exit_codes import TERMINATED

if __name__ == "__main__":
    # A wait has nothing to clean up, so it needs no other signal handler.
    end_with(TERMINATED)
    from stowplan.agents.wait.run import main

    main()
