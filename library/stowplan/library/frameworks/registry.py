"""The training frameworks, by name."""

from stowplan.library.frameworks.mxnet import Mxnet
from stowplan.library.frameworks.paddle import Paddle
from stowplan.library.frameworks.paddle_legacy import PaddleLegacy
from stowplan.library.ir.training import Framework

FRAMEWORKS: dict[str, type[Framework]] = {"mxnet": Mxnet, "paddle": Paddle, "paddle-legacy": PaddleLegacy}
"""The class of each framework. A dialect makes an instance with the options that its specs give."""
