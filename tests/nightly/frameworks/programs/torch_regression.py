"""Training of a linear model by PyTorch, each process on its share of a dataset. torchrun starts it, or nobody does.

The arguments are a folder for results, the number of steps, and the seconds that each step takes at least. The folder
gets a file when the first step is done, and one at the end.
"""

import os
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist

folder, steps, seconds = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
lines = Path(os.environ["STOWPLAN_DATASET_SAMPLES"], "samples.csv").read_text().splitlines()
rows = torch.tensor([[float(value) for value in line.split(",")] for line in lines[rank::size]])
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), 0.3)
for _ in range(steps):
    optimizer.zero_grad()
    loss = (model(rows[:, :2]) - rows[:, 2:]).square().mean()
    loss.backward()
    optimizer.step()
    (folder / f"began-{os.environ['STOWPLAN_NODE_RANK']}-{size}").touch()
    time.sleep(seconds)
if loss > 0.1:
    sys.exit(f"The loss is {loss}")
(folder / f"{rank}-{os.environ['STOWPLAN_NODE_RANK']}").write_text(f"{rank} of {size}")
dist.destroy_process_group()
