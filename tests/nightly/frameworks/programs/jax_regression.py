"""Training of a linear model by JAX, each process on its share of a dataset; the gradients are added by `psum`.

Arguments and results are those of `torch_regression.py`.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec

folder, steps, seconds = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
jax.distributed.initialize(
    num_processes=int(os.environ["JAX_NUM_PROCESSES"]), process_id=int(os.environ["JAX_PROCESS_ID"])
)
rank, size = jax.process_index(), jax.process_count()
lines = Path(os.environ["STOWPLAN_DATASET_SAMPLES"], "samples.csv").read_text().splitlines()
rows = np.array([[float(value) for value in line.split(",")] for line in lines[rank::size]], "float32")
mesh = jax.make_mesh((jax.device_count(),), ("nodes",))
shared = jax.make_array_from_process_local_data(jax.NamedSharding(mesh, PartitionSpec("nodes")), rows)


def loss_of(weights: jax.Array, rows: jax.Array) -> jax.Array:
    return jnp.square(rows[:, :2] @ weights[:2] + weights[2] - rows[:, 2]).mean()


def gradient(weights: jax.Array, rows: jax.Array) -> tuple[jax.Array, jax.Array]:
    loss, slope = jax.value_and_grad(loss_of)(weights, rows)
    return jax.lax.psum(loss, "nodes") / size, jax.lax.psum(slope, "nodes") / size


both = (PartitionSpec(), PartitionSpec("nodes"))
summed = jax.jit(jax.shard_map(gradient, mesh=mesh, in_specs=both, out_specs=PartitionSpec(), check_vma=False))
weights: Any = np.zeros(3, "float32")
for _ in range(steps):
    loss, slope = summed(weights, shared)
    weights = weights - 0.3 * slope
    (folder / f"began-{os.environ['STOWPLAN_NODE_RANK']}-{size}").touch()
    time.sleep(seconds)
if float(loss) > 0.1:
    sys.exit(f"The loss is {loss}")
(folder / f"{rank}-{os.environ['STOWPLAN_NODE_RANK']}").write_text(f"{rank} of {size}")
