"""Entry of `python -m stowplan.agents.wait_peers`."""

from stowplan.agents.runtime.entry import start

if __name__ == "__main__":
    start("wait.peers")
