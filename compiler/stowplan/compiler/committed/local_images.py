"""Reused runs whose agent images were never in a registry, although the platform file names a registry by now."""

from collections.abc import Sequence

from stowplan.compiler.checks.objects.pods import pods_anywhere
from stowplan.compiler.model import Output
from stowplan.library.builders.pods import agent_pod
from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.meta import SpecId


def findings(spec: SpecId, run: Sequence[Output], own: Sequence[Output]) -> dict[str, Finding]:
    """Return SP543, by path, for each reused file with a local image in a run of `spec`.

    `own` are the compiled outputs of the spec. Empty if these have local images too.
    """
    if any(map(_local_images, own)):
        return {}
    found = {output.path: _local_images(output) for output in run if output.reused}
    return {path: _finding(spec, images[0]) for path, images in found.items() if images}


def _local_images(output: Output) -> list[str]:
    """Return the agent images of an object that no registry has."""
    images = [container.get("image") for pod in pods_anywhere(output.manifest.body) for _, container in pod.containers]
    return [image for image in images if isinstance(image, str) and agent_pod.is_local(image)]


def _finding(spec: SpecId, image: str) -> Finding:
    message = (
        f"This run of {spec} is reused as it was compiled, with the image {image}, which no registry has: its pods"
        " would never start. The platform file names a registry by now."
    )
    hint = (
        f'Compile the run anew with `stowplan synth --recompile "{spec}"`, or all runs with `--recompile all`; their'
        " Jobs start again. A spec whose work is done can be removed."
    )
    return finding("SP543", (), message, hint)
