"""Training of a linear model by Paddle's launcher, each process on its share of a dataset.

Arguments and results are those of `torch_regression.py`.
"""

import os
import sys
import time
from pathlib import Path

import paddle
import paddle.distributed as dist

folder, steps, seconds = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
dist.init_parallel_env()
rank, size = dist.get_rank(), dist.get_world_size()
lines = Path(os.environ["STOWPLAN_DATASET_SAMPLES"], "samples.csv").read_text().splitlines()
rows = paddle.to_tensor([[float(value) for value in line.split(",")] for line in lines[rank::size]])
model = paddle.DataParallel(paddle.nn.Linear(2, 1))
optimizer = paddle.optimizer.SGD(0.3, parameters=model.parameters())
for _ in range(steps):
    loss = (model(rows[:, :2]) - rows[:, 2:]).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    (folder / f"began-{os.environ['STOWPLAN_NODE_RANK']}-{size}").touch()
    time.sleep(seconds)
if loss.item() > 0.1:
    sys.exit(f"The loss is {loss.item()}")
(folder / f"{rank}-{os.environ['STOWPLAN_NODE_RANK']}").write_text(f"{rank} of {size}")
