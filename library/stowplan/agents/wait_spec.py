"""Entry of `python -m stowplan.agents.wait_spec`."""

from stowplan.agents.runtime.entry import start

if __name__ == "__main__":
    start("wait.spec")
