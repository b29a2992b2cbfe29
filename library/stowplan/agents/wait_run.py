"""Entry of `python -m stowplan.agents.wait_run`."""

from stowplan.agents.runtime.entry import start

if __name__ == "__main__":
    start("wait.run")
