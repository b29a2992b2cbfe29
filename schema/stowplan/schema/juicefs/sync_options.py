"""Options of a sync of JuiceFS that users may set."""

from pydantic import Field

from stowplan.schema.juicefs.options import Fate, Flags, Option


class SyncOptions(Flags):
    """What a sync copies and how, by the names of the flags of `juicefs sync`."""

    source: str | None = Field(
        default=None,
        description="Where to copy from: `[NAME://]BUCKET[.ENDPOINT][/PREFIX]`. Credentials belong into the Secret, not here.",
    )
    destination: str | None = Field(
        default=None, description="Directory of the dataset to copy to. Without it, the dataset's root."
    )
    start: str | None = Field(default=None, description="First key to copy.")
    end: str | None = Field(default=None, description="Last key to copy.")
    threads: int | None = Field(default=None, description="Number of parallel copies. JuiceFS default 10.")
    list_threads: int | None = Field(default=None, description="Number of parallel listings. JuiceFS default 1.")
    list_depth: int | None = Field(default=None, description="Directory depth of parallel listing.")
    http_port: int | None = Field(default=None, description="No effect: JuiceFS removed this status page in 1.2.")
    update: bool | None = Field(default=None, description="Skip files whose copy is newer.")
    force_update: bool | None = Field(default=None, description="Copy every file again.")
    existing: bool | None = Field(default=None, description="Copy only files that exist at the destination.")
    ignore_existing: bool | None = Field(default=None, description="Never touch files that exist at the destination.")
    perms: bool | None = Field(default=None, description="Keep permissions.")
    dirs: bool | None = Field(default=None, description="Copy directories too, also empty ones.")
    links: bool | None = Field(default=None, description="Copy symbolic links as links.")
    dry: bool | None = Field(default=None, description="Copy nothing; only list the files that would be copied.")
    delete_src: bool | None = Field(default=None, description="Delete files at the source after they were copied.")
    delete_dst: bool | None = Field(
        default=None, description="Delete files of the dataset that the source does not have."
    )
    exclude: str | None = Field(default=None, description="Leave out keys that match this pattern.")
    include: str | None = Field(
        default=None,
        description="Take in keys that match this pattern although `exclude` matches. Needs `exclude`.",
    )
    match_full_path: bool | None = Field(
        default=None, description="Match patterns against the whole path. Needs JuiceFS 1.2."
    )
    max_size: str | None = Field(
        default=None, description="Leave out files larger than this, such as `1G`. Needs JuiceFS 1.2."
    )
    min_size: str | None = Field(
        default=None, description="Leave out files smaller than this, such as `1K`. Needs JuiceFS 1.2."
    )
    max_age: str | None = Field(
        default=None, description="Leave out files older than this, such as `24h`. Needs JuiceFS 1.2."
    )
    min_age: str | None = Field(
        default=None, description="Leave out files younger than this, such as `10m`. Needs JuiceFS 1.2."
    )
    limit: int | None = Field(default=None, description="Maximum number of objects to copy.")
    manager: str | None = Field(default=None, description="No effect: one pod runs the sync.")
    worker: str | None = Field(default=None, description="No effect: one pod runs the sync.")
    bwlimit: int | None = Field(default=None, description="Bandwidth limit in Mbit/s. 0 means no limit.")
    no_https: bool | None = Field(default=None, description="Use plain HTTP.")
    check_all: bool | None = Field(default=None, description="Compare the content of all files after copying.")
    check_new: bool | None = Field(
        default=None, description="Compare the content of new files after copying. On by default here."
    )
    check_change: bool | None = Field(
        default=None, description="Notice files that change while they are copied. Needs JuiceFS 1.3."
    )
    max_failure: int | None = Field(default=None, description="Go on after so many failed files. Needs JuiceFS 1.3.")
    storage_class: str | None = Field(default=None, description="Storage class of new objects. Needs JuiceFS 1.1.")


_GLOBS = "patterns are rsync-like globs today, no longer regular expressions"
_ONE_POD = "distributed sync logs in to its workers by SSH, which a restricted pod cannot; one pod runs the sync"

SYNC_OPTIONS: dict[str, Option] = {
    "http-port": Option(
        "http-port",
        fate=Fate.REMOVED,
        note="JuiceFS 1.2 removed the status page; progress is in the status of the custom resource",
    ),
    "manager": Option("manager", fate=Fate.REMOVED, note=_ONE_POD),
    "worker": Option("worker", fate=Fate.REMOVED, note=_ONE_POD),
    "exclude": Option("exclude", fate=Fate.CHANGED, note=_GLOBS),
    "include": Option("include", fate=Fate.CHANGED, note=_GLOBS),
    "match-full-path": Option("match-full-path", (1, 2)),
    "max-size": Option("max-size", (1, 2)),
    "min-size": Option("min-size", (1, 2)),
    "max-age": Option("max-age", (1, 2)),
    "min-age": Option("min-age", (1, 2)),
    "storage-class": Option("storage-class", (1, 1)),
    "check-change": Option("check-change", (1, 3)),
    "max-failure": Option("max-failure", (1, 3)),
}
"""Sync options that have changed or that are newer than JuiceFS 1.0."""
