"""Rendering with cdk8s in Node.js: one Node.js process for each process of the compiler."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from stowplan.compiler.repository.temporary_folder import TemporaryFolder
from stowplan.library.composition import node

if TYPE_CHECKING:
    from stowplan.library.composition.rendering import Composer
    from stowplan.library.composition.tree import ChartSource
    from stowplan.library.manifest import Unit


class ComposerPool:
    """One Node.js process for each process of the compiler that renders, started at its first rendering, or by `start`.

    `lasting` is True if the pool serves several compilations of one process, as for `stowplan watch`. That process then
    gives no work to other processes. Whoever makes a pool calls `close` at the end.
    """

    def __init__(self, *, lasting: bool = True) -> None:
        self.lasting = lasting
        self._packages: TemporaryFolder | None = None
        self._composer: Composer | None = None
        self._owner = os.getpid()

    def prepare(self) -> None:
        """Find Node.js and unpack the script for it with its packages, so that processes forked later share both.

        Raises `NodeError`.
        """
        node.program()
        if self._composer is None and self._packages is None:
            from stowplan.library.composition.packages import unpack  # noqa: PLC0415 - start-up time

            self._packages = TemporaryFolder("stowplan-npm-")
            unpack(self._packages.path)

    def start(self) -> None:
        """Start Node.js now. Without one, only the first rendering raises, if anything needs to be rendered."""
        with suppress(node.NodeError):
            self._started()

    def render(self, units: "Sequence[Unit]") -> "list[Unit]":
        """Return the units with their manifests as cdk8s rendered them; each unit is one chart.

        Raises `NodeError` if Node.js cannot be started, and `RuntimeError` if it fails.
        """
        from stowplan.library.composition.tree import chart_of  # noqa: PLC0415 - start-up time

        rendered = self.render_charts([chart_of(unit) for unit in units])
        return [replace(unit, parts=chart.parts) for unit, chart in zip(units, rendered, strict=True)]

    def render_charts(self, charts: "Sequence[ChartSource]") -> "Sequence[ChartSource]":
        """Return the charts with their objects as cdk8s rendered them. Raises what `render` raises."""
        return self._started().render(charts) if charts else []

    def use_jsii(self) -> None:
        """From now on, render in the Node.js process that jsii starts for extensions; end any earlier one."""
        from stowplan.library.constructs import JsiiComposer  # noqa: PLC0415 - starts Node

        self.close()
        self._composer = JsiiComposer()

    def _started(self) -> "Composer":
        # Node.js cannot tell apart what several processes ask, so a forked process needs one of its own.
        if self._composer is None or (self._packages is not None and self._owner != os.getpid()):
            from stowplan.library.composition.node_composer import NodeComposer  # noqa: PLC0415 - start-up time

            self.prepare()
            self._composer = NodeComposer(self._packages.path if self._packages else Path())
            self._owner = os.getpid()
        return self._composer

    def close(self) -> None:
        """End the Node.js process, unless jsii's, and remove the unpacked files. Later renderings start another."""
        if self._composer is not None:
            self._composer.close()
        if self._packages is not None:
            self._packages.remove()
        self._composer = self._packages = None
