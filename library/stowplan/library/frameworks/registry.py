"""The training frameworks, by name."""

from stowplan.library.frameworks import none, torch
from stowplan.library.frameworks.api import Plugin
from stowplan.library.frameworks.mxnet import Mxnet
from stowplan.library.frameworks.paddle import Paddle
from stowplan.library.frameworks.paddle_legacy import PaddleLegacy
from stowplan.library.ir.training import Framework

FRAMEWORKS: dict[str, type[Framework]] = {"mxnet": Mxnet, "paddle": Paddle, "paddle-legacy": PaddleLegacy}
"""The class of each framework that has a kind of its own, whose dialect makes an instance with the spec's options."""

PLUGINS: dict[str, Plugin] = {"none": none.PLUGIN, "torch": torch.PLUGIN}
"""The frameworks of a Training, by the value of its field `framework`."""
