"""Kept runs whose agent images were never in a registry, although the platform file names a registry by now."""

from collections.abc import Iterator, Sequence
from typing import Any

from stowplan.compiler.model import Output
from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.meta import SpecId

_LOCAL = "local/stowplan-"
"""How names of agent images begin without `images.registry`: such images are on the machine that built them alone."""


def findings(spec: SpecId, kept: Sequence[Output], own: Sequence[Output]) -> dict[str, Finding]:
    """Return SP543, by path, for each kept file of a run of `spec` that has a local image.

    `own` are the compiled outputs of the spec. Empty if these have local images too.
    """
    if any(True for output in own for _ in _images(output.manifest.body)):
        return {}
    found = {output.path: next(_images(output.manifest.body), None) for output in kept if output.kept}
    return {path: _finding(spec, image) for path, image in found.items() if image}


def _images(value: Any) -> Iterator[str]:
    """Yield the local images in an object, at whatever depth."""
    if isinstance(value, dict):
        image = value.get("image")
        if isinstance(image, str) and image.startswith(_LOCAL):
            yield image
    if isinstance(value, dict | list):
        for below in value.values() if isinstance(value, dict) else value:
            yield from _images(below)


def _finding(spec: SpecId, image: str) -> Finding:
    message = (
        f"This run of {spec} is kept as it was compiled, with the image {image}, which no registry has: its pods would"
        " never start. The platform file names a registry by now."
    )
    hint = (
        f'Compile the run anew with `stowplan synth --recompile "{spec}"`, or all runs with `--recompile all`; their'
        " Jobs start again. A spec whose work is done can be removed."
    )
    return finding("SP543", (), message, hint)
