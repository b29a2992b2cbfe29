"""Trains in steps, and saves its state after each. What comes out depends on all steps, each done once.

The arguments are the folder of the samples and the number of steps. The first two attempts stop after two steps each,
and wait to be killed.
"""

import hashlib
import os
import random
import sys
import time
from pathlib import Path

STEPS_OF_ATTEMPT = 2
SIZE = 3 << 20

rank, attempt = int(os.environ["RANK"]), int(os.environ["STOWPLAN_ATTEMPT"])
folder = Path(os.environ["STOWPLAN_CHECKPOINT_DIR"])
state, steps = folder / f"state-{rank}", int(sys.argv[2])
samples = b"".join(path.read_bytes() for path in sorted(Path(sys.argv[1]).glob("*.idx")))


def save(path: Path, data: bytes) -> None:
    """Whole or not at all."""
    path.parent.mkdir(exist_ok=True)
    new = path.with_suffix(".new")
    with new.open("wb") as file:
        file.write(data)
        os.fsync(file.fileno())
    new.replace(path)


done = state.read_text().split() if state.exists() else []
sys.stdout.write(f"process {rank}, attempt {attempt}: begins after step {len(done)}\n")
last = steps if attempt >= 2 else min(steps, len(done) + STEPS_OF_ATTEMPT)
for step in range(len(done), last):
    done.append(hashlib.sha256(f"{done} {rank}".encode() + samples).hexdigest())
    save(state, " ".join(done).encode())
    sys.stdout.write(f"process {rank}, attempt {attempt}: saved step {step + 1}\n")
while last < steps:
    time.sleep(1)
model = random.Random(" ".join(done)).randbytes(SIZE)  # noqa: S311 - the same in each run
save(folder / "model" / f"{rank}.bin", model)
sys.stdout.write(f"process {rank}, attempt {attempt}: saved the model {hashlib.sha256(model).hexdigest()}\n")
