"""Measures the review of a change of about 500 objects: `python -m tests.bench.review`."""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_PAIR = """\
apiVersion: stowplan.dev/v1alpha1
kind: Dataset
metadata: {{name: d{number}, namespace: ml}}
spec:
  source: {{s3: {{uri: "s3://images/d{number}/", endpoint: "https://s3.example.com", secretRef: {{name: images}}}}}}
  volume: {{juicefs: {{secretRef: {{name: volume}}}}}}
  cache: {{nodes: 2, tiers: [{{path: /mnt/nvme0/stowplan, size: 300Gi}}]}}
---
apiVersion: stowplan.dev/v1alpha1
kind: Training
metadata: {{name: t{number}, namespace: ml}}
spec:
  framework: torch
  image: registry.example.com/ml/vit:2.0
  command: [torchrun, train.py]
  numNodes: 4
  resourcesPerNode: {{limits: {{nvidia.com/gpu: 8}}}}
  datasets: [{{name: d{number}, mountPath: /data, wait: {{}}}}]
"""
_EDITS = (("vit:2.0", "vit:2.1"), ("s3://images/d", "s3://images-v2/d"), ("nodes: 2", "nodes: 3"))


def main() -> None:
    """Measure and print the medians: the whole command, with compiling, beside `diff`, which compiles too."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.review", description=__doc__)
    parser.add_argument("--pairs", type=int, default=32, help="datasets with a training job; default: %(default)s")
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-review-") as name:
        repo = Path(name)
        _laid_out(repo, given.pairs)
        rows: dict[str, list[float]] = {"diff": [], "report": []}
        for _ in range(given.rounds):
            rows["diff"].append(_seconds(repo, "diff"))
            rows["report"].append(_seconds(repo, "report", "-o", "report.html"))
        changes = subprocess.check_output(_command("diff", "--format", "json"), cwd=repo, text=True).count('"action"')
        size = (repo / "report.html").stat().st_size
    sys.stdout.write(f"{changes} changed objects, page of {size / 1e6:.2f} MB\n")
    for row, seconds in rows.items():
        sys.stdout.write(f"{row}: {statistics.median(seconds):.2f} s\n")


def _laid_out(repo: Path, pairs: int) -> None:
    (repo / "specs").mkdir()
    (repo / "stowplan.yaml").write_text("images: {registry: registry.example.com/ml}\nengines: {jobs: jobset}\n")
    files = [repo / f"specs/{number}.yaml" for number in range(pairs)]
    for number, file in enumerate(files):
        file.write_text(_PAIR.format(number=number))
    subprocess.run([_program(), "synth"], cwd=repo, check=True, capture_output=True)
    identity = ["-c", "user.email=a@example.com", "-c", "user.name=A"]
    for arguments in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "Base"]):
        subprocess.run(["git", *arguments], cwd=repo, check=True)
    for file in files:
        text = file.read_text()
        for before, after in _EDITS:
            text = text.replace(before, after)
        file.write_text(text)


def _seconds(repo: Path, *arguments: str) -> float:
    start = time.perf_counter()
    subprocess.run(_command(*arguments), cwd=repo, check=True, capture_output=True)
    return time.perf_counter() - start


def _command(name: str, *arguments: str) -> list[str]:
    return [_program(), name, "--base", "HEAD", *arguments]


def _program() -> str:
    return str(Path(sys.executable).with_name("stowplan"))


if __name__ == "__main__":
    main()
