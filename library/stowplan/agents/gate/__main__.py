"""Entry of `python -m stowplan.agents.gate`."""

from stowplan.agents.runtime.entry import start

if __name__ == "__main__":
    start("gate.opening_loop")
