"""Training of a linear model with parameter servers, by Paddle's fleet.

Writes its result to the folder in its first argument.
"""

import os
import sys
from pathlib import Path

import numpy as np
import paddle
from paddle.distributed import fleet

paddle.enable_static()
fleet.init()
inputs = paddle.static.data("inputs", [None, 4])
cost = paddle.mean(paddle.square(paddle.static.nn.fc(inputs, 1) - 1.0))
strategy = fleet.DistributedStrategy()
strategy.a_sync = True
fleet.distributed_optimizer(paddle.optimizer.SGD(0.01), strategy).minimize(cost)
if fleet.is_server():
    fleet.init_server()
    fleet.run_server()
else:
    executor = paddle.static.Executor(paddle.CPUPlace())
    executor.run(paddle.static.default_startup_program())
    fleet.init_worker()
    for _ in range(3):
        executor.run(paddle.static.default_main_program(), feed={"inputs": np.ones((2, 4), "float32")})
    fleet.stop_worker()
    Path(sys.argv[1], f"{os.environ['HOSTNAME']}-{os.getpid()}").write_text(
        f"{fleet.worker_num()} workers, {fleet.server_num()} servers"
    )
