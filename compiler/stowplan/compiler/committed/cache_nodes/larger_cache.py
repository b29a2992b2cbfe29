"""Warmups of a dataset whose caches have become larger, or lie in other directories, since the last output.

What is over stays over, but a warmup has loaded only what fitted into the caches of its time. So its Jobs get another
name and load what is missing. The sync before them stays as it is, and so does what waits for both.
"""

import json
from collections.abc import Sequence
from typing import NamedTuple

from stowplan.compiler.committed.cache_nodes import ordinals
from stowplan.compiler.kubernetes.fields import mapping
from stowplan.compiler.model import OutputFile
from stowplan.compiler.output.folder import OutputFolder
from stowplan.compiler.output.inventory_lines import Entry
from stowplan.compiler.output.read_back import reread
from stowplan.library.manifest import Json
from stowplan.library.values import labels
from stowplan.library.values.names import HASH_LENGTH
from stowplan.schema.agents.agent_config import CONFIG_FILE

_DIRECTORIES = "cache-dir="


class _Cache(NamedTuple):
    size_mib: int
    directories: frozenset[str]


def warmed_again(
    outputs: Sequence[OutputFile], own: Sequence[OutputFile], committed: Sequence[Entry], tree: OutputFolder
) -> list[OutputFile]:
    """Return the outputs of one spec, with warmups that run again if its caches are larger than in the last output.

    `own` are the outputs to which the spec compiles now, `committed` its entries in the inventory of the last output,
    which lies in `tree`.
    """
    known = {entry.id for entry in committed}
    warmups = [each for each in outputs if ordinals.is_warmup(each)]
    over = next((each for each in warmups if each.manifest.id in known), None)
    present = _enlarged(own, committed, tree) if over else None
    if over is None or present is None:
        return [*outputs]
    cache = f"{over.manifest.name[-HASH_LENGTH:]} {present.size_mib}Mi {':'.join(sorted(present.directories))}"
    compiled = {each.path: each for each in own if ordinals.is_warmup(each)}
    return [
        ordinals.again(compiled[each.path], over, len(compiled), cache) if each.path in compiled else each
        for each in outputs
    ]


def _enlarged(own: Sequence[OutputFile], committed: Sequence[Entry], tree: OutputFolder) -> _Cache | None:
    """Return the caches that the spec asks for now, if they hold more than the last output's; else None."""
    runtime = next((each for each in own if _is_runtime(each)), None)
    before = next((each for each in committed if runtime and each.path == runtime.path), None)
    # The name has the hash of the content.
    if runtime is None or before is None or before.id == runtime.manifest.id:
        return None
    old, new = _cache(reread(tree.read(before.path) or b"") or {}), _cache(runtime.manifest.body)
    if old is None or new is None or (new.size_mib <= old.size_mib and new.directories <= old.directories):
        return None
    return new


def _is_runtime(output: OutputFile) -> bool:
    tags = mapping(output.manifest.body, "metadata", "labels")
    return output.manifest.kind == "ConfigMap" and tags.get(labels.COMPONENT) == labels.CACHE_POD


def _cache(body: Json) -> _Cache | None:
    """Return the cache in the ConfigMap of cache pods, of any version; None if it has none."""
    try:
        config = json.loads(mapping(body, "data").get(CONFIG_FILE) or "")
        options = [each for each in config["mountOptions"] if each.startswith(_DIRECTORIES)]
        directories = options[0].removeprefix(_DIRECTORIES).split(":")
        return _Cache(int(config["cacheSizeMiB"]), frozenset(directories))
    except (ValueError, TypeError, LookupError, AttributeError):
        return None
