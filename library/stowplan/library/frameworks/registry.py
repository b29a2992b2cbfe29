"""The frameworks of a Training, by name."""

from importlib import import_module
from typing import get_args

from stowplan.library.frameworks.api import Plugin
from stowplan.schema.frameworks import FrameworkName

PLUGINS: dict[str, type[Plugin]] = {
    name: import_module(f"stowplan.library.frameworks.{name}").PLUGIN for name in get_args(FrameworkName)
}
"""Plug-ins by the value of the field `framework`. The module of a framework has the framework's name."""
