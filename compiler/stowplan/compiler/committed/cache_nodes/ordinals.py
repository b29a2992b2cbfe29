"""Jobs of a committed run that work on one cache node each, after the number of these nodes has changed.

The Jobs of nodes that remain are reused, those of removed nodes are left out, and a node that was added is warmed by
a Job like those of the others. A `clear` gets no further Job: the cache of a new node is empty.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from stowplan.compiler.kubernetes.fields import mapping
from stowplan.compiler.model import OutputFile
from stowplan.library.builders.pods.agent_pod import PARTITION, PARTITIONS
from stowplan.library.manifest import Json
from stowplan.library.values import labels, names
from stowplan.library.values.names import HASH_LENGTH

_WARMUP = "warmup"


def removed(paths: Iterable[str], own: Sequence[OutputFile]) -> set[str]:
    """Return those of the `paths` that are files of Jobs on nodes that are gone.

    `own` are the outputs to which the spec compiles now, with a Job for each node that remains.
    """
    present = {output.path for output in own}
    series = {_series(output.path) for output in own if _ordinal(output) is not None}
    return {path for path in paths if path not in present and _series(path) in series}


def added(run: Sequence[OutputFile], own: Sequence[OutputFile]) -> Iterator[OutputFile]:
    """Yield the warmups of nodes that the committed files `run` lack: as compiled now, but as a part of that run.

    `own` are the outputs to which the spec compiles now. A node loads its share of as many nodes as there are now.
    """
    present = {output.path for output in run}
    total = sum(is_warmup(each) for each in own)
    for output in own:
        sibling = _sibling(output, run)
        if sibling and output.path not in present:
            yield _joined(output, sibling, total)


def as_added(committed: OutputFile, run: Sequence[OutputFile], own: Sequence[OutputFile]) -> OutputFile | None:
    """Return the warmup of a node, compiled now, as it was added to the run when there were as many nodes as then.

    `committed` is the warmup's file in the committed files `run`; None if it was not added later.
    """
    total = _argument(committed.manifest.body, PARTITIONS)
    compiled = next((each for each in own if each.path == committed.path), None)
    sibling = _sibling(committed, run)
    if total is None or not compiled or not sibling:
        return None
    if cache := _larger_cache(committed):
        # It is its own sibling, so what it mounts is compared with the run.
        configurations = {each.manifest.name for each in run if each.manifest.kind == "ConfigMap"}
        return again(compiled, sibling, total, cache) if _configuration(sibling) in configurations else None
    return _joined(compiled, sibling, total)


def again(compiled: OutputFile, sibling: OutputFile, total: int, cache: str) -> OutputFile:
    """Return the warmup of a node under another name, so that it runs once more.

    `compiled` is the warmup as compiled now, `sibling` a warmup of the committed run, and `total` the number of nodes.
    `cache` is a text that says how large the cache is; the name depends on it.
    """
    joined = _joined(compiled, sibling, total)
    body = joined.manifest.body
    meta = body["metadata"]
    name = names.with_hash(joined.manifest.stem, names.content_hash(cache))
    changed = {**meta, "name": name, "annotations": {**meta["annotations"], labels.LARGER_CACHE: cache}}
    return replace(joined, manifest=replace(joined.manifest, body={**body, "metadata": changed}))


def _sibling(output: OutputFile, run: Sequence[OutputFile]) -> OutputFile | None:
    """Return a warmup of the first run, or of a larger cache, with which a warmup shares its configuration and hash."""
    if not is_warmup(output):
        return None
    warmups = (each for each in run if is_warmup(each))
    first = (each for each in warmups if _argument(each.manifest.body, PARTITIONS) is None or _larger_cache(each))
    return next(first, None)


def _larger_cache(output: OutputFile) -> str:
    return str(mapping(output.manifest.body, "metadata", "annotations").get(labels.LARGER_CACHE) or "")


def _joined(output: OutputFile, sibling: OutputFile, total: int) -> OutputFile:
    body = output.manifest.body
    template = body["spec"]["template"]
    pod = template["spec"]
    (container,) = pod["containers"]
    mounted = {"configMap": {"name": str(_configuration(sibling))}}
    volumes = [{**each, **mounted} if "configMap" in each else each for each in pod["volumes"]]
    arguments = [*container["args"], PARTITIONS, str(total)]
    changed = {**pod, "containers": [{**container, "args": arguments}], "volumes": volumes}
    name = names.with_hash(output.manifest.stem, sibling.manifest.name[-HASH_LENGTH:])
    whole = {
        **body,
        "metadata": {**body["metadata"], "name": name},
        "spec": {**body["spec"], "template": {**template, "spec": changed}},
    }
    return replace(output, manifest=replace(output.manifest, body=whole))


def is_warmup(output: OutputFile) -> bool:
    """Return whether an output is the Job that warms one cache node."""
    tags = mapping(output.manifest.body, "metadata", "labels")
    return _ordinal(output) is not None and tags.get(labels.COMPONENT) == _WARMUP


def _ordinal(output: OutputFile) -> int | None:
    """Return the number of the cache node on which a Job of a run works; None for other objects."""
    works = output.manifest.run and output.manifest.kind == "Job"
    return _argument(output.manifest.body, PARTITION) if works else None


def _argument(body: Json, name: str) -> int | None:
    """Return the number after the argument `name` of a Job's container; None if it is not there."""
    containers = mapping(body, "spec", "template", "spec").get("containers")
    container = containers[0] if isinstance(containers, list) and containers else {}
    given = container.get("args") if isinstance(container, dict) else ()
    if not isinstance(given, list):
        return None
    at = given.index(name) + 1 if name in given[:-1] else 0
    return int(given[at]) if at and str(given[at]).isdecimal() else None


def _configuration(output: OutputFile) -> str | None:
    """Return the name of the ConfigMap that a Job mounts."""
    volumes = mapping(output.manifest.body, "spec", "template", "spec").get("volumes")
    mounted = volumes if isinstance(volumes, list) else ()
    return next((name for each in mounted if (name := mapping(each, "configMap").get("name"))), None)


def _series(path: str) -> str | None:
    """Return the path of a file without the number at its end, such as `job-a-warmup` of `job-a-warmup-1.yaml`."""
    stem, _, number = path.removesuffix(".yaml").rpartition("-")
    return stem if number.isdecimal() else None
