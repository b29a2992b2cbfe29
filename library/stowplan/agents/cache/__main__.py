"""Entry of `python -m stowplan.agents.cache`."""

from stowplan.agents.runtime.entry import start

if __name__ == "__main__":
    start("cache.command")
