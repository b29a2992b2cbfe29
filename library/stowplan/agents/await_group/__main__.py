"""Entry of `python -m stowplan.agents.await_group`."""

import sys

from stowplan.agents.await_group.command import main

if __name__ == "__main__":
    sys.exit(main())
