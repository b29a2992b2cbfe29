"""Reads its share of the samples, as a training does, and prints the digest of each."""

import argparse
import hashlib
import os
import sys
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("--data", type=Path)
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
for path in sorted(parser.parse_args().data.glob("*.idx"))[rank::size]:
    sys.stdout.write(f"process {rank} of {size}: {path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n")
