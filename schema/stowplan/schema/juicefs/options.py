"""JuiceFS: options that users may set, changes since the old operator, and values that compiler and agents share.

Option names and versions follow the JuiceFS community edition, 1.0 to 1.4, and the `spec.mountOptions` that its CSI
driver accepts. The old operator was written against 0.16 and 0.17.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from pydantic import Field

from stowplan.schema.meta import Model

Version = tuple[int, int]

STORAGES = frozenset(
    "bos s3 hdfs gs wasb oss cos ks3 ufile qingstor jss qiniu b2 space obs oos scw minio scs ibmcos wasabi mss nos eos "
    "speedy ceph swift webdav redis tikv file".split()
)
"""Object storages that a source URI may name: the allow-list of the old operator's `ValidateSourceURI`."""

VOLUME_SECRET_KEYS = ("bucket", "metaurl", "name", "storage")
"""Required keys of the volume Secret; the old operator refused a Secret without one of them."""

CREDENTIAL_KEYS = ("access-key", "secret-key")
"""Optional keys of a volume or source Secret."""


class Fate(StrEnum):
    """What has changed about an option since the old operator.

    It is the same, has another name, has another meaning, or no longer exists.
    """

    KEPT = "kept"
    RENAMED = "renamed"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Option:
    """Translation of one option of a spec into a JuiceFS flag.

    `flag` is the present name of the flag, without dashes. `since` is the first version of JuiceFS with this flag.
    `note` explains why an option was removed or renamed, or how its meaning changed; it becomes part of a diagnostic.
    """

    flag: str
    since: Version = (1, 0)
    fate: Fate = Fate.KEPT
    note: str = ""


class MountOptions(Model):
    """Options of `juicefs mount`, by the names of its flags."""

    metrics: str | None = Field(
        default=None,
        description="Address of the mount's metrics, `host:port`. The CSI driver sets `0.0.0.0:9567` without it.",
    )
    attr_cache: int | None = Field(
        default=None,
        alias="attr-cache",
        description="Seconds that the kernel keeps attributes. JuiceFS default 1.",
    )
    entry_cache: int | None = Field(
        default=None,
        alias="entry-cache",
        description="Seconds that the kernel keeps file entries. JuiceFS default 1.",
    )
    dir_entry_cache: int | None = Field(
        default=None,
        alias="dir-entry-cache",
        description="Seconds that the kernel keeps directory entries. JuiceFS default 1.",
    )
    enable_xattr: bool | None = Field(default=None, alias="enable-xattr", description="Allow extended attributes.")
    get_timeout: int | None = Field(
        default=None,
        alias="get-timeout",
        description="Seconds until a download from the object storage is given up. JuiceFS default 60.",
    )
    put_timeout: int | None = Field(
        default=None,
        alias="put-timeout",
        description="Seconds until an upload to the object storage is given up. JuiceFS default 60.",
    )
    io_retries: int | None = Field(
        default=None, alias="io-retries", description="Tries after a network error. JuiceFS default 10."
    )
    max_uploads: int | None = Field(
        default=None, alias="max-uploads", description="Number of parallel uploads. JuiceFS default 20."
    )
    max_downloads: int | None = Field(
        default=None, alias="max-downloads", description="Number of parallel downloads. Needs JuiceFS 1.4."
    )
    buffer_size: int | None = Field(
        default=None,
        alias="buffer-size",
        description="Read and write buffer in MiB; must fit in the mount pod's memory limit. JuiceFS default 300.",
    )
    upload_limit: int | None = Field(
        default=None, alias="upload-limit", description="Upload bandwidth in Mbit/s. 0 means no limit."
    )
    download_limit: int | None = Field(
        default=None, alias="download-limit", description="Download bandwidth in Mbit/s. 0 means no limit."
    )
    prefetch: int | None = Field(
        default=None,
        description="Blocks to read ahead in parallel. 0 suits sparse random reads. JuiceFS default 1.",
    )
    max_readahead: int | None = Field(
        default=None,
        alias="max-readahead",
        description="Largest read-ahead window in MiB. Needs JuiceFS 1.3.",
    )
    writeback: bool | None = Field(
        default=None,
        description="Upload in the background. Under the CSI driver, data that was not uploaded can be lost with the mount pod.",
    )
    cache_dir: str | None = Field(
        default=None,
        alias="cache-dir",
        description="Absolute host directories of the cache, joined by `:`. System directories are refused. `cache.levels` takes precedence.",
    )
    cache_size: int | None = Field(
        default=None,
        alias="cache-size",
        description="Size of the cache of one node in MiB, over all its directories. `cache.levels` takes precedence.",
    )
    cache_items: int | None = Field(
        default=None, alias="cache-items", description="Largest number of cached blocks. Needs JuiceFS 1.3."
    )
    cache_expire: str | None = Field(
        default=None,
        alias="cache-expire",
        description="Time after which an unused block leaves the cache, such as `24h`. Needs JuiceFS 1.2.",
    )
    cache_eviction: Literal["none", "2-random", "lru"] | None = Field(
        default=None,
        alias="cache-eviction",
        description="How blocks are chosen for eviction. `lru` needs JuiceFS 1.4.",
    )
    cache_scan_interval: str | None = Field(
        default=None,
        alias="cache-scan-interval",
        description="How often the cache index is rebuilt from disk, such as `1h`.",
    )
    cache_mode: str | None = Field(
        default=None, alias="cache-mode", description="File mode of cached blocks, in octal, such as `0600`."
    )
    cache_partial_only: bool | None = Field(
        default=None, alias="cache-partial-only", description="Cache random small reads only."
    )
    verify_cache_checksum: Literal["none", "full", "shrink", "extend"] | None = Field(
        default=None,
        alias="verify-cache-checksum",
        description="How much of a cached block is verified on reading.",
    )
    free_space_ratio: str | None = Field(
        default=None,
        alias="free-space-ratio",
        description='Share of the disk to leave free, at least 0 and below 1, as a string such as "0.2". JuiceFS default 0.1.',
    )
    open_cache: int | None = Field(
        default=None,
        alias="open-cache",
        description="Seconds that an opened file's attributes are kept. For data that is only read.",
    )
    negative_entry_cache: int | None = Field(
        default=None,
        alias="negative-entry-cache",
        description="Seconds that failed look-ups are kept. Needs JuiceFS 1.3.",
    )
    readdir_cache: bool | None = Field(
        default=None,
        alias="readdir-cache",
        description="Let the kernel keep directory listings. Needs JuiceFS 1.3.",
    )
    sort_dir: bool | None = Field(
        default=None, alias="sort-dir", description="Sort directory listings by name. Needs JuiceFS 1.3."
    )
    sub_dir: str | None = Field(
        default=None,
        alias="sub-dir",
        description="Directory of the volume to mount as its root. JuiceFS calls it `subdir`; the old operator's spelling never reached JuiceFS. Letters, digits and `._/@%+:-`.",
    )
    read_only: bool | None = Field(
        default=None,
        alias="read-only",
        description="Mount read-only. Warmup, sync and rmr need a writable mount.",
    )
    no_bgjob: bool | None = Field(
        default=None,
        alias="no-bgjob",
        description="Run no background jobs (clean-up, metadata backup) in this client.",
    )
    backup_meta: str | None = Field(
        default=None,
        alias="backup-meta",
        description="How often metadata is backed up, such as `1h`. `0` turns it off.",
    )
    no_usage_report: bool | None = Field(
        default=None, alias="no-usage-report", description="Send no usage report to JuiceFS."
    )


MOUNT_OPTIONS: dict[str, Option] = {
    "sub-dir": Option(
        "subdir",
        fate=Fate.RENAMED,
        note="the old operator passed `sub-dir`, which JuiceFS never knew, so the whole volume was mounted",
    ),
    "max-downloads": Option("max-downloads", (1, 4)),
    "max-readahead": Option("max-readahead", (1, 3)),
    "cache-items": Option("cache-items", (1, 3)),
    "cache-expire": Option("cache-expire", (1, 2)),
    "negative-entry-cache": Option("negative-entry-cache", (1, 3)),
    "readdir-cache": Option("readdir-cache", (1, 3)),
    "sort-dir": Option("sort-dir", (1, 3)),
}
"""Mount options whose flag has another name or is newer than JuiceFS 1.0."""


class SyncOptions(Model):
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
    list_threads: int | None = Field(
        default=None, alias="list-threads", description="Number of parallel listings. JuiceFS default 1."
    )
    list_depth: int | None = Field(default=None, alias="list-depth", description="Directory depth of parallel listing.")
    http_port: int | None = Field(
        default=None, alias="http-port", description="No effect: JuiceFS removed this status page in 1.2."
    )
    update: bool | None = Field(default=None, description="Skip files whose copy is newer.")
    force_update: bool | None = Field(default=None, alias="force-update", description="Copy every file again.")
    existing: bool | None = Field(default=None, description="Copy only files that exist at the destination.")
    ignore_existing: bool | None = Field(
        default=None, alias="ignore-existing", description="Never touch files that exist at the destination."
    )
    perms: bool | None = Field(default=None, description="Keep permissions.")
    dirs: bool | None = Field(default=None, description="Copy directories too, also empty ones.")
    links: bool | None = Field(default=None, description="Copy symbolic links as links.")
    dry: bool | None = Field(default=None, description="Copy nothing; only list the files that would be copied.")
    delete_src: bool | None = Field(
        default=None, alias="delete-src", description="Delete files at the source after they were copied."
    )
    delete_dst: bool | None = Field(
        default=None,
        alias="delete-dst",
        description="Delete files of the dataset that the source does not have.",
    )
    exclude: str | None = Field(default=None, description="Leave out keys that match this pattern.")
    include: str | None = Field(
        default=None,
        description="Take in keys that match this pattern although `exclude` matches. Needs `exclude`.",
    )
    match_full_path: bool | None = Field(
        default=None,
        alias="match-full-path",
        description="Match patterns against the whole path. Needs JuiceFS 1.2.",
    )
    max_size: str | None = Field(
        default=None,
        alias="max-size",
        description="Leave out files larger than this, such as `1G`. Needs JuiceFS 1.2.",
    )
    min_size: str | None = Field(
        default=None,
        alias="min-size",
        description="Leave out files smaller than this, such as `1K`. Needs JuiceFS 1.2.",
    )
    max_age: str | None = Field(
        default=None,
        alias="max-age",
        description="Leave out files older than this, such as `24h`. Needs JuiceFS 1.2.",
    )
    min_age: str | None = Field(
        default=None,
        alias="min-age",
        description="Leave out files younger than this, such as `10m`. Needs JuiceFS 1.2.",
    )
    limit: int | None = Field(default=None, description="Maximum number of objects to copy.")
    manager: str | None = Field(default=None, description="No effect: one pod runs the sync.")
    worker: str | None = Field(default=None, description="No effect: one pod runs the sync.")
    bwlimit: int | None = Field(default=None, description="Bandwidth limit in Mbit/s. 0 means no limit.")
    no_https: bool | None = Field(default=None, alias="no-https", description="Use plain HTTP.")
    check_all: bool | None = Field(
        default=None, alias="check-all", description="Compare the content of all files after copying."
    )
    check_new: bool | None = Field(
        default=None,
        alias="check-new",
        description="Compare the content of new files after copying. On by default here.",
    )
    check_change: bool | None = Field(
        default=None,
        alias="check-change",
        description="Notice files that change while they are copied. Needs JuiceFS 1.3.",
    )
    max_failure: int | None = Field(
        default=None, alias="max-failure", description="Go on after so many failed files. Needs JuiceFS 1.3."
    )
    storage_class: str | None = Field(
        default=None, alias="storage-class", description="Storage class of new objects. Needs JuiceFS 1.1."
    )


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
