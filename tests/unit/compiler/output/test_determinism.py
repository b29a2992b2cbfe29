"""The same data gives the same bytes in every process."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.compiler.yaml.test_emitter import AMBIGUOUS
from tests.unit.outputs import config_map, files

BODY: dict[str, Any] = {
    **config_map("a"),
    "data": {f"{word} {index}": word for index, word in enumerate(AMBIGUOUS)},
    "binaryData": dict.fromkeys("zyxwvutsrqponmlkjihgfedcba", ""),
    "numbers": [1e3, 1e21, -0.0, 2**53 + 1, 0.1, True, None],
}
WRITE = """
import json, sys
from pathlib import Path
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.output.write import write
from tests.unit.outputs import output, rendered
bodies = json.loads(sys.stdin.buffer.read())
files = rendered(output(path, body) for path, body in bodies.items())
write(files, Path(sys.argv[1]), Inventory(), Report())
"""
REPOSITORY = Path(__file__).parents[4]


def shuffled(data: Any, order: random.Random) -> Any:
    if isinstance(data, dict):
        items = [(key, shuffled(value, order)) for key, value in data.items()]
        order.shuffle(items)
        return dict(items)
    return data


def tree(out: Path, bodies: dict[str, Any], **environment: str) -> dict[str, bytes]:
    """Return the files that a separate process writes."""
    out.parent.mkdir()
    subprocess.run(
        [sys.executable, "-c", WRITE, out],
        input=json.dumps(bodies).encode(),
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(REPOSITORY), **environment},
        cwd=out.parent,
        check=True,
    )
    return files(out)


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "1"},
        {"PYTHONHASHSEED": "4294967295"},
        {"TZ": "Pacific/Kiritimati"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "tr_TR.UTF-8"},
        {"PYTHONOPTIMIZE": "2"},
    ],
    ids=lambda environment: next(iter(environment)) + "=" + next(iter(environment.values())),
)
def test_bytes_do_not_depend_on_the_process(tmp_path: Path, environment: dict[str, str]) -> None:
    bodies = {f"ml/{number}.yaml": {**BODY, "metadata": {"name": str(number)}} for number in range(5)}
    here = tree(tmp_path / "a" / "out", bodies, PYTHONHASHSEED="0")
    there = tree(tmp_path / "b" / "elsewhere", shuffled(bodies, random.Random(7)), **environment)  # noqa: S311
    assert len(here) == 6
    assert here == there
