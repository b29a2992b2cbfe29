"""Entry of `python -m stowplan.agents.transfer`."""

from stowplan.agents.runtime.entry import start

if __name__ == "__main__":
    start("transfer.command")
