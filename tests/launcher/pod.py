"""A pod as one process: its mounts, its init containers one after the other, then the program that trains.

The first argument is a file with the delay in seconds, the mounts and the containers, as `machine` writes it. An init
container that fails ends the pod with its exit code.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path


def main() -> None:
    plan = json.loads(Path(sys.argv[1]).read_text())
    time.sleep(plan["delay"])
    for folder, place, read_only in plan["mounts"]:
        Path(place).mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", "--bind", folder, place], check=True)
        if read_only:
            subprocess.run(["mount", "-o", "remount,bind,ro", place], check=True)
    *before, last = plan["containers"]
    for container in before:
        code = subprocess.run(container["command"], env=container["env"], check=False).returncode
        if code:
            sys.exit(code)
    os.execvpe(last["command"][0], last["command"], last["env"])  # noqa: S606 - the programs of the test


if __name__ == "__main__":
    main()
