"""The `stowplan` command, which reports at its end the seconds of each stage.

It is a separate process, started by path. Its first argument is the file for the figures; the command's own arguments
follow. The stages are wrapped from outside, and one process, besides Node, compiles all specs. Time inside a nested
stage counts only for the inner stage. Stages that overlap in threads each have their own time, so the sum may exceed
the total.
"""

import json
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

BEGAN = time.perf_counter()

PHASES = {
    "parse": (
        "repository.load:Checkout.__init__",
        "repository.load:Checkout.sources",
    ),
    "validate": ("compiling.reading:validate", "compiling.reading:resolve"),
    "lower": ("compiling.reading:context_of", "compiling.steps:lower"),
    "compose": (
        "lowering.composer_pool:ComposerPool.prepare",
        "lowering.composer_pool:ComposerPool.render",
        "lowering.composer_pool:ComposerPool.render_charts",
        "pipeline:extend",
    ),
    "compare": (
        "cache.stamp:look",
        "cache.stamp:Look.remember",
        "committed.last_output:Committed.read",
        "compiling.keep:keep",
        "compiling.keep:spoiled",
    ),
    "check": ("checks.spec_stage:definitions", "checks.spec_stage:check", "checks.stage:conclude"),
    "deliver": (
        "lowering.output_layout:of_specs",
        "pipeline:plain_objects",
        "compiling.compile_all:delivered",
        "pipeline:settings",
    ),
    "render": ("output.render:Renderings.of", "output.render:Renderings.all"),
    "write": ("output.write:write",),
}
"""Functions of `stowplan.compiler`. One that has moved has to be named anew here."""

START, REST = "start", "rest"
"""Imports before the first stage; and printing, garbage, the end."""
ORDER = (START, *PHASES, REST)

PROCESSES = "compiling.processes:processes"
"""How many there may be."""

Function = Callable[..., Any]


class Clock:
    """Seconds of each phase, without those of phases within it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._local = threading.local()

    def timed(self, phase: str, function: Function) -> Function:
        """The function, or what it yields, on the clock."""

        def wrapper(*arguments: Any, **named: Any) -> Any:
            result = self._run(phase, lambda: function(*arguments, **named))
            return self._drawn(phase, result) if isinstance(result, Iterator) else result

        return wrapper

    def _drawn(self, phase: str, values: Iterator[Any]) -> Iterator[Any]:
        end = object()
        while (value := self._run(phase, lambda: next(values, end))) is not end:
            yield value

    def _run(self, phase: str, work: Callable[[], Any]) -> Any:
        inner: list[float] = self._local.__dict__.setdefault("inner", [0.0])
        inner.append(0.0)
        begin = time.perf_counter()
        try:
            return work()
        finally:
            took = time.perf_counter() - begin
            self.seconds[phase] += took - inner.pop()
            inner[-1] += took


def wrap(clock: Clock) -> None:
    """Puts all stages on the clock. Ends the process with a message where one is gone."""
    for phase, names in PHASES.items():
        for name in names:
            owner, last = _place(name)
            setattr(owner, last, clock.timed(phase, getattr(owner, last)))
    owner, last = _place(PROCESSES)
    setattr(owner, last, lambda: 1)


def _place(name: str) -> tuple[Any, str]:
    """A module or a class, and the name of its function."""
    module, _, path = name.partition(":")
    *outer, last = path.split(".")
    owner: Any = import_module(f"stowplan.compiler.{module}")
    for each in outer:
        owner = getattr(owner, each, None)
    if not hasattr(owner, last):
        sys.exit(f"stowplan.compiler.{name} is not there any more: name in {__file__} what does its work now")
    return owner, last


def main() -> None:
    """Runs the command."""
    target, clock = Path(sys.argv.pop(1)), Clock()
    wrap(clock)
    from stowplan.compiler import cli  # noqa: PLC0415 - finds the stages wrapped

    clock.seconds[START] = time.perf_counter() - BEGAN
    try:
        cli.main()
    finally:
        whole = time.perf_counter() - BEGAN
        figures = {**clock.seconds, REST: max(0.0, whole - sum(clock.seconds.values()))}
        target.write_text(json.dumps(figures), encoding="utf-8")


if __name__ == "__main__":
    main()
