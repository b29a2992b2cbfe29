"""Options of the JuiceFS mount, as the CSI driver reads them: a sorted list of `key=value` or, for flags, `key`."""

from stowplan.library.drivers.juicefs import cache
from stowplan.library.drivers.juicefs.options import Value, client_version, fate_findings, given
from stowplan.library.ir.data import CachedDataset, Site
from stowplan.library.values import inner_paths
from stowplan.schema.diagnostics import FieldPath, Finding, finding
from stowplan.schema.juicefs.mount_options import MOUNT_OPTIONS, MountOptions
from stowplan.schema.juicefs.option_forms import MOUNT_FORMS, RATIO
from stowplan.schema.juicefs.options import Option

DEFAULT_FREE_SPACE_RATIO = "0.1"
"""JuiceFS' own default, written out so that a reviewer sees when the cache stops growing."""

_RESOLVED = ("cache-dir", "cache-size", "free-space-ratio")


def mount_options(dataset: CachedDataset, site: Site) -> list[str]:
    """Return all options of the mount, sorted. Directories, size and free space of the cache are always included."""
    node_cache = cache.resolve(dataset, site)
    entries = [
        f"cache-dir={':'.join(node_cache.directories)}",
        f"cache-size={node_cache.size_mib}",
        f"free-space-ratio={dataset.options.free_space_ratio or DEFAULT_FREE_SPACE_RATIO}",
    ]
    for key, value in given(dataset.options):
        if key not in _RESOLVED and value is not False:
            flag = MOUNT_OPTIONS.get(key, Option(key)).flag
            entries.append(flag if value is True else f"{flag}={value}")
    return sorted(entries)


def findings(dataset: CachedDataset, site: Site) -> list[Finding]:
    """Return findings about the mount options of a dataset."""
    base = dataset.fields.options
    version = client_version(site.platform.juicefs.client_version)
    found = fate_findings(dataset.options, MOUNT_OPTIONS, version, base)
    for key, value in given(dataset.options):
        found += _value(key, value, (*base, key))
    return [
        *found,
        *_ratio(dataset.options, base),
        *_sub_dir(dataset.options, base),
        *_risks(dataset.options, base),
        *_eviction(dataset.options, version, base),
    ]


def _value(key: str, value: Value, path: FieldPath) -> list[Finding]:
    if isinstance(value, str) and key not in _RESOLVED and (form := MOUNT_FORMS.get(key)) and not form.fits(value):
        message = f"Found {value!a} for `{key}`; allowed is {form.words}."
        return [finding("SP206", path, message, f"Give {form.words}.")]
    if value == 0 and not isinstance(value, bool):
        message = f'"{key}" is 0, which JuiceFS gets in place of its default.'
        return [finding("SP411", path, message, "Remove it if you want the default.")]
    return []


def _ratio(options: MountOptions, base: FieldPath) -> list[Finding]:
    text = options.free_space_ratio
    if not text:
        return []
    if RATIO.fits(text) and float(text) < 1:
        return []
    message = f'"{text}" is not a number from 0 to below 1.'
    return [finding("SP205", (*base, "free-space-ratio"), message, 'Give a share such as "0.2".')]


def _sub_dir(options: MountOptions, base: FieldPath) -> list[Finding]:
    problem = inner_paths.problem(options.sub_dir or "", "volume")
    return [finding("SP405", (*base, "sub-dir"), *problem)] if problem else []


def _risks(options: MountOptions, base: FieldPath) -> list[Finding]:
    found = []
    if options.writeback:
        message = "With `writeback`, data that was not uploaded yet is lost with the mount pod."
        hint = "Remove it: the data that jobs write must survive the pod of the CSI driver."
        found.append(finding("SP410", (*base, "writeback"), message, hint))
    if options.read_only:
        message = "On a read-only mount, warmup, clear and rmr cannot open JuiceFS's control file."
        found.append(finding("SP410", (*base, "read-only"), message, "Mount it read-only in the training pods."))
    return found


def _eviction(options: MountOptions, version: tuple[int, int], base: FieldPath) -> list[Finding]:
    if options.cache_eviction != "lru" or version >= (1, 4):
        return []
    message = f"`lru` needs JuiceFS 1.4; the platform has {version[0]}.{version[1]}."
    return [finding("SP409", (*base, "cache-eviction"), message, "Choose `none` or `2-random`.")]
