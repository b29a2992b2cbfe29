"""kustomize, one process for 10 overlays of a base, one file for each object. No checks.

An overlay has JSON patches for all values, which this module makes from the specs.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from inputs import FILES, OUT, batches, filled  # type: ignore[import-not-found]

BATCH = 10

OUT.mkdir()
patches = {each.name: json.loads((each / "patches.json").read_bytes()) for each in (FILES / "base").iterdir()}
with tempfile.TemporaryDirectory(dir=OUT.parent) as name:
    folder = Path(name)
    shutil.copytree(FILES / "base", folder / "base")
    for number, batch in enumerate(batches(BATCH)):
        for spec, values in batch:
            wanted = [
                {
                    "target": each["target"],
                    "patch": json.dumps(
                        [{"op": "replace", "path": path, "value": filled(slot, values)} for path, slot in each["slots"]]
                    ),
                }
                for each in patches[values["kind"]]
            ]
            (folder / spec).mkdir()
            overlay = {"resources": [f"../base/{values['kind']}"], "patches": wanted}
            (folder / spec / "kustomization.yaml").write_text(json.dumps(overlay), encoding="utf-8")
        (folder / f"batch-{number}").mkdir()
        all_of = {"resources": [f"../{spec}" for spec, _ in batch]}
        (folder / f"batch-{number}" / "kustomization.yaml").write_text(json.dumps(all_of), encoding="utf-8")
        subprocess.run([sys.argv[4], "build", folder / f"batch-{number}", "-o", OUT], check=True)
