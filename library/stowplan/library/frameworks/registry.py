"""The training frameworks, by name."""

from stowplan.library.frameworks import jax, none, paddle_collective, torch, xgboost
from stowplan.library.frameworks.api import Plugin
from stowplan.library.frameworks.mxnet import Mxnet
from stowplan.library.frameworks.paddle import Paddle
from stowplan.library.frameworks.paddle_legacy import PaddleLegacy
from stowplan.library.ir.training import Framework

FRAMEWORKS: dict[str, type[Framework]] = {"mxnet": Mxnet, "paddle": Paddle, "paddle-legacy": PaddleLegacy}
"""The class of each framework that has a kind of its own, whose dialect makes an instance with the spec's options."""

PLUGINS: dict[str, Plugin] = {
    "jax": jax.PLUGIN,
    "none": none.PLUGIN,
    "paddle": paddle_collective.PLUGIN,
    "torch": torch.PLUGIN,
    "xgboost": xgboost.PLUGIN,
}
"""The frameworks of a Training, by the value of its field `framework`."""
