"""Prints a package of uv.lock as a line for `pip install --require-hashes --requirement`: `python .ci/locked.py uv`."""

import sys
import tomllib
from pathlib import Path


def requirement(name: str) -> str:
    """Return the requirement of a package without dependencies, with the hashes of its wheels."""
    lock = tomllib.loads((Path(__file__).parents[1] / "uv.lock").read_text(encoding="utf-8"))
    (package,) = [each for each in lock["package"] if each["name"] == name]
    hashes = "".join(f" --hash={wheel['hash']}" for wheel in package["wheels"])
    return f"{name}=={package['version']}{hashes}\n"


if __name__ == "__main__":
    sys.stdout.write(requirement(sys.argv[1]))
