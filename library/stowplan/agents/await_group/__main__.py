"""Entry of `python -m stowplan.agents.await_group`."""

from stowplan.agents.runtime.entry import start

if __name__ == "__main__":
    start("await_group.wait_loop")
