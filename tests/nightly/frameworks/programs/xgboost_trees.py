"""Training of trees by XGBoost's collective, each process on its share of a dataset. The first starts the tracker.

Arguments and results are those of `torch_regression.py`.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np
import xgboost
from xgboost import collective
from xgboost.tracker import RabitTracker

folder, steps, seconds = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
task, host, port = os.environ["DMLC_TASK_ID"], os.environ["DMLC_TRACKER_URI"], int(os.environ["DMLC_TRACKER_PORT"])
if task == "0":
    tracker = RabitTracker(n_workers=int(os.environ["DMLC_NUM_WORKER"]), host_ip=host, port=port, sortby="task")
    tracker.start()


class Pause(xgboost.callback.TrainingCallback):  # type: ignore[misc]
    """Says that training began, and waits after each step."""

    def after_iteration(self, model: object, epoch: int, evals_log: object) -> bool:  # noqa: ARG002 - as XGBoost has it
        (folder / f"began-{os.environ['STOWPLAN_NODE_RANK']}-{size}").touch()
        time.sleep(seconds)
        return False


with collective.CommunicatorContext(dmlc_tracker_uri=host, dmlc_tracker_port=port, dmlc_task_id=task, dmlc_retry=30):
    rank, size = collective.get_rank(), collective.get_world_size()
    rows = np.loadtxt(Path(os.environ["STOWPLAN_DATASET_SAMPLES"], "samples.csv"), delimiter=",")[rank::size]
    matrix = xgboost.DMatrix(rows[:, :2], rows[:, 2])
    result: dict[str, dict[str, list[float]]] = {}
    xgboost.train(
        {}, matrix, steps, evals=[(matrix, "all")], evals_result=result, verbose_eval=False, callbacks=[Pause()]
    )
    loss = result["all"]["rmse"][-1]
    if loss > 0.1:
        sys.exit(f"The loss is {loss}")
    (folder / f"{rank}-{os.environ['STOWPLAN_NODE_RANK']}").write_text(f"{rank} of {size}")
