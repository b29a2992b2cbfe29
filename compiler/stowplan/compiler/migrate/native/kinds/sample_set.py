"""From SampleSet to Dataset."""

from collections.abc import Iterator

from stowplan.compiler.kubernetes.fields import value_at
from stowplan.compiler.migrate.native.plan import MigrationPlan, Move, Omit, Step, Write, moves, path
from stowplan.compiler.migrate.native.scope import Scope
from stowplan.compiler.model import Spec
from stowplan.library.drivers.juicefs.cache import MEMORY, default_directory
from stowplan.library.drivers.pvc import source
from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.kinds.sample_set import CacheLevel, SampleSet

_TO_CACHE = moves(
    ("spec.partitions", "spec.cache.nodes"),
    ("spec.nodeAffinity", "spec.cache.affinity"),
    ("spec.tolerations", "spec.cache.tolerations"),
)
_TO_JUICEFS = moves(
    ("spec.secretRef", "spec.volume.juicefs.secretRef"),
    ("spec.csi.juiceFSMountOptions", "spec.volume.juicefs.options"),
)
_TO_CLAIM = moves(
    ("spec.csi.claim.template", "spec.volume.claim.template"),
    ("spec.csi.claim.name", "spec.volume.claim.name"),
)
_OF_CACHES = ("partitions", "cache", "nodeAffinity", "warmupAfterSync", "csi.juiceFSMountOptions")
_NO_CACHE = "no node caches the data of a claim"
_OPTIONS = "spec.csi.juiceFSMountOptions"
_SAME = "With this platform file, the volume, the claim and the directory stay the same."
_AGAIN = " The sync is a new run, which copies what differs."
_ELSEWHERE = "a source takes its Secret from its own namespace"


def plan(model: SampleSet, spec: Spec, scope: Scope) -> MigrationPlan:
    """Return the plan for the SampleSet `spec` with the model `model`, of either driver."""
    of_claim = bool(model.spec.csi and model.spec.csi.driver == "pvc")
    steps = [*_source(model, of_claim=of_claim), *(_claim(model) if of_claim else _juicefs(model, scope))]
    return MigrationPlan(
        "Dataset",
        tuple(steps),
        reasons=((path("spec.tolerations"), "a Dataset in a claim has no tolerations"),),
        refused=tuple(_refused(spec, model, scope)),
        change=_SAME if model.spec.no_sync else _SAME + _AGAIN,
    )


def _source(model: SampleSet, *, of_claim: bool) -> Iterator[Step]:
    """Yield the steps for the source. What its Secret lacks is taken from the Secret of the volume."""
    given = model.spec.source
    if model.spec.no_sync or given is None or given.uri is None:
        yield Omit(path("spec.source"), "`noSync` is true, so nothing is copied from it")
        yield Omit(path("spec.noSync"))
        return
    yield Omit(path("spec.noSync"))
    yield Omit(path("spec.source.secretRef.namespace"))
    new = "spec.source.s3" if of_claim else "spec.source.storage"
    if of_claim:
        yield from _store(given.uri)
    else:
        yield Move(path("spec.source.uri"), path(f"{new}.uri"))
    name = _secret(model)
    if given.secret_ref and given.secret_ref.name:
        yield Move(path("spec.source.secretRef"), path(f"{new}.secretRef"))
    elif name:
        yield Write(path(f"{new}.secretRef.name"), name)
    elif of_claim:
        yield Write(path(f"{new}.anonymous"), value=True)


def _store(uri: str) -> Iterator[Step]:
    """Yield the steps for objects that are copied to a claim: the transfer agent copies them, not JuiceFS."""
    found = source.parse(uri)
    if isinstance(found, source.S3Source):
        yield Write(path("spec.source.s3.uri"), found.uri, path("spec.source.uri"))
        for key, value in (("endpoint", found.endpoint), ("region", found.region)):
            if value:
                yield Write(path(f"spec.source.s3.{key}"), value)


def _secret(model: SampleSet) -> str | None:
    """Return the name of the Secret of the source: its own, else that of the volume."""
    own = model.spec.source.secret_ref if model.spec.source else None
    volume = model.spec.secret_ref
    return (own and own.name) or (volume and volume.name) or None


def _juicefs(model: SampleSet, scope: Scope) -> Iterator[Step]:
    options = model.spec.csi.juice_fs_mount_options if model.spec.csi else None
    below = (options.sub_dir or "").strip("/") if options else ""
    for key in ("cache-dir", "cache-size"):
        yield Omit(path(f"{_OPTIONS}.{key}"))
    sub_path = Write(path("spec.volume.juicefs.subPath"), below or "/", path(f"{_OPTIONS}.sub-dir"))
    yield from (_TO_JUICEFS[0], sub_path, _TO_JUICEFS[1])
    yield Omit(path("spec.csi.driver"))
    yield _TO_CACHE[0]
    yield from _tiers(model, scope)
    yield from _TO_CACHE[1:]
    warms = model.spec.warmup_after_sync
    if (options and options.read_only) or (warms is None and not scope.platform.juicefs.warmup_after_sync):
        warms = False
    if warms is not None:
        word = "all" if warms else "none"
        yield Write(path("spec.cache.warmup"), word, path("spec.warmupAfterSync"))


def _claim(model: SampleSet) -> Iterator[Step]:
    """Yield the steps for the driver `pvc`. By default, the claim has the name of the SampleSet."""
    given = model.spec.csi.claim if model.spec.csi else None
    name, own = (given and given.name) or model.metadata.name, model.metadata.name
    if given and given.template:
        yield Omit(path("spec.csi.claim.name"))
        yield _TO_CLAIM[0]
        if name != own:
            yield Write(path("spec.volume.claim.template.metadata.name"), name)
    else:
        yield Write(path("spec.volume.claim.name"), name, path("spec.csi.claim.name"))
    below = ((given and given.sub_path) or "").strip("/")
    yield Write(path("spec.volume.claim.subPath"), below or "/", path("spec.csi.claim.subPath"))
    yield Omit(path("spec.csi.driver"))
    yield Omit(path("spec.secretRef"))
    for key in _OF_CACHES:
        yield Omit(path(f"spec.{key}"), _NO_CACHE)


def _refused(spec: Spec, model: SampleSet, scope: Scope) -> Iterator[Finding]:
    given, volume, home = model.spec.source, model.spec.secret_ref, spec.id.namespace
    options = model.spec.csi.juice_fs_mount_options if model.spec.csi else None
    if given and not model.spec.no_sync:
        own = (given.secret_ref and given.secret_ref.namespace) or (volume and volume.namespace) or home
        if own != home:
            part = (
                "spec.source.secretRef.namespace"
                if value_at(spec.document.data, path("spec.source.secretRef.namespace"))
                else "spec.secretRef.namespace"
            )
            message = f"The Secret of the source is in namespace {own}; {_ELSEWHERE}."
            yield finding("SP427", path(part), message, f"Copy the Secret to {home}, and remove `namespace` here.")
    of_claim = bool(model.spec.csi and model.spec.csi.driver == "pvc")
    if scope.platform.names == "upstream" and not of_claim:
        message = "The platform has `names: upstream`, and the volume of a Dataset has no name of the old operator."
        yield finding("SP427", path("metadata.name"), message, "Leave the SampleSet as it is.")
    if (
        of_claim
        and given
        and given.uri
        and not model.spec.no_sync
        and isinstance(found := source.parse(given.uri), str)
    ):
        yield finding("SP427", path("spec.source.uri"), found, "Correct it first.")
    if options and options.cache_dir == MEMORY:
        message = "A cache in the memory of the client has no directory, and a tier needs one."
        hint = f"Name a directory in memory, such as {default_directory(model.metadata.name)}."
        yield finding("SP427", path(f"{_OPTIONS}.cache-dir"), message, hint)


def _tiers(model: SampleSet, scope: Scope) -> Iterator[Step]:
    """Yield the steps for the tiers: one for each directory, in the order in which JuiceFS gets the directories.

    A SampleSet adds up the sizes, and JuiceFS splits the sum evenly over all directories.
    """
    levels = (model.spec.cache.levels if model.spec.cache else None) or []
    options = model.spec.csi.juice_fs_mount_options if model.spec.csi else None
    total = sum(max(level.cache_size or 0, 0) for level in levels)
    total = total or (options.cache_size if options else None) or scope.platform.juicefs.cache_size
    if levels and all(level.cache_size and ":" not in (level.path or ":") for level in levels):
        for index, level in enumerate(levels):
            yield from _tier(index, level)
        return
    named = ":".join(level.path for level in levels if level.path) or (options.cache_dir if options else None) or ""
    directories = [each for each in named.split(":") if each] or [default_directory(model.metadata.name)]
    in_memory = {each for level in levels if level.medium_type == "MEM" for each in (level.path or "").split(":")}
    sizes = [total // len(directories) + (index < total % len(directories)) for index in range(len(directories))]
    tiers = [
        {"path": each, "size": f"{size}Mi", **({"medium": "Memory"} if each in in_memory else {})}
        for each, size in zip(directories, sizes, strict=True)
    ]
    yield Write(path("spec.cache.tiers"), tiers, path("spec.cache.levels"))


def _tier(index: int, level: CacheLevel) -> Iterator[Step]:
    old, new = f"spec.cache.levels.{index}", f"spec.cache.tiers.{index}"
    yield Move(path(f"{old}.path"), path(f"{new}.path"))
    yield Write(path(f"{new}.size"), f"{level.cache_size}Mi", path(f"{old}.cacheSize"))
    if level.medium_type == "MEM":
        yield Write(path(f"{new}.medium"), "Memory", path(f"{old}.mediumType"))
    else:
        yield Omit(path(f"{old}.mediumType"), "what is not in memory is a disk")
