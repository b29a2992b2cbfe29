"""A sync: options of `juicefs sync` as its flags, and the transfer from a source that it cannot read."""

from collections.abc import Iterator

from stowplan.library.builders import dataset_transfer
from stowplan.library.builders.dataset_transfer import Course
from stowplan.library.builders.job import TaskSet
from stowplan.library.drivers import storage_source
from stowplan.library.drivers.juicefs.options import Value, client_version, fate_findings, given
from stowplan.library.ir.data import CachedDataset, DataTask, Remote, Site
from stowplan.schema.agents.transfer_config import Mirror
from stowplan.schema.diagnostics import FieldPath, Finding, finding, without_effect
from stowplan.schema.juicefs.option_forms import PATTERN, SYNC_FORMS
from stowplan.schema.juicefs.options import WITHOUT_TIMES, Fate, Option
from stowplan.schema.juicefs.sync_keys import is_ignored
from stowplan.schema.juicefs.sync_options import SYNC_OPTIONS, SyncOptions

SYNC: FieldPath = ("spec", "syncOptions")
_ENDS = ("source", "destination")


def flags(options: SyncOptions) -> dict[str, Value]:
    """Return the flags of `juicefs sync` by name without dashes. The options 0 and false count as not given.

    New files are verified (`check-new`) unless the user says otherwise.
    """
    result: dict[str, Value] = {} if options.check_all or options.check_new is False else {"check-new": True}
    for key, value in given(options):
        option = SYNC_OPTIONS.get(key, Option(key))
        if key not in _ENDS and value and option.fate is not Fate.REMOVED:
            result[option.flag] = value
    return result


def by_transfer(task: DataTask, remote: Remote, site: Site, service_account: str) -> TaskSet:
    """Return the ConfigMap and the only Job of a sync by the transfer agent, which mounts the dataset.

    It runs as the same user as the other tasks, so that they can change each other's files.
    """
    mirror = Mirror(maxDelete=task.max_delete) if task.sync_options.delete_dst else None
    course = Course(shared=True, mirror=mirror, user=site.platform.juicefs.task_user)
    return dataset_transfer.task_set(task, remote, course, site, service_account)


def ends(task: DataTask) -> tuple[str, str]:
    """Return source URI and destination path. Either both end in `/` or neither does: JuiceFS refuses other pairs.

    Neither ends in `/` only if the user wrote none and the destination is not the root; the old operator did the same.
    The destination is below `sub-dir`, since a sync writes to the volume and not through the mount.
    """
    source = task.source.uri if task.source else ""
    parts = [_subdirectory(task.dataset), task.destination]
    path = "/".join(part.strip("/") for part in parts if part.strip("/"))
    slash = not path or source.endswith("/") or task.destination.endswith("/")
    if not slash:
        return source, f"/{path}"
    return source.rstrip("/") + "/", f"/{path}/" if path else "/"


def root(task: DataTask) -> str | None:
    """Return the absolute path in the volume of what is mounted as the dataset (`sub-dir`); None for all of it."""
    path = _subdirectory(task.dataset).strip("/")
    return f"/{path}" if path else None


def _subdirectory(dataset: CachedDataset) -> str:
    return dataset.options.sub_dir or ""


def findings(task: DataTask, site: Site) -> list[Finding]:
    """Return findings about the sync options of a SampleJob."""
    options = task.sync_options
    found = fate_findings(options, SYNC_OPTIONS, client_version(site.platform.juicefs.client_version), SYNC)
    if options.include and not options.exclude:
        message = "`include` takes back what `exclude` leaves out, and there is no `exclude`."
        path, hint = (*SYNC, "include"), "Add `exclude`, or remove `include`."
        found = [other for other in found if other.path != path]
        found.append(without_effect(path, message, hint))
    found += [*_forms(options), *_ignored(options)]
    found += [*storage_source.findings(task.source, (*SYNC, "source")), *_without_times(task)]
    if options.delete_src:
        message = "`delete-src` deletes at the source what was copied; another run cannot bring it back."
        hint = "Remove it unless the dataset is to be the only copy."
        found.append(finding("SP417", (*SYNC, "delete-src"), message, hint))
    return found


def _without_times(task: DataTask) -> Iterator[Finding]:
    """Yield a finding if nothing but the content tells whether a file of the source of a SampleJob has changed."""
    options, source = task.sync_options, task.source
    storage = source.uri.partition("://")[0] if source and not source.direct else ""
    if storage in WITHOUT_TIMES and not (options.check_all or options.force_update or options.ignore_existing):
        message = f"{storage}:// has no modification times: what is replaced by as many bytes is not copied again."
        hint = "Add `check-all: true`, which compares the contents of all files."
        yield finding("SP411", (*SYNC, "source"), message, hint)


def _forms(options: SyncOptions) -> Iterator[Finding]:
    """Yield findings about strings that do not have the form that their option requires."""
    for key, value in given(options):
        form = SYNC_FORMS.get(key)
        if form and key != "source" and isinstance(value, str) and not form.fits(value):
            message = f"Found {value!a} for `{key}`; allowed is {form.words}."
            hint = "Write `?` for any other character." if form is PATTERN else f"Give {form.words}."
            yield finding("SP405" if key == "destination" else "SP206", (*SYNC, key), message, hint)


def _ignored(options: SyncOptions) -> Iterator[Finding]:
    """Yield findings about patterns that JuiceFS drops with a warning: it would then copy or delete excluded files."""
    for key, pattern in (("include", options.include), ("exclude", options.exclude)):
        if pattern and is_ignored(pattern):
            reason, hint = _OPTION if pattern.startswith("-") and "=" in pattern else _BROKEN
            message = f'JuiceFS would pass over the pattern "{pattern}": {reason}.'
            yield finding("SP420", (*SYNC, key), message, hint)


_OPTION = (
    "it begins with `-` and holds a `=`, like an option",
    "Write `?` in the place of the `=`; it matches any one character.",
)
_BROKEN = (
    r"a set such as `[0-9]` is not closed, or it ends in `\`",
    r"Close it, or write `\[` and `\\` for the characters themselves.",
)
