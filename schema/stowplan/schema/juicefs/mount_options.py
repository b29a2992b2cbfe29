"""Mount options of JuiceFS that users may set."""

from typing import Literal

from pydantic import Field

from stowplan.schema.juicefs.options import Fate, Flags, Option


class MountOptions(Flags):
    """Options of `juicefs mount`, by the names of its flags."""

    metrics: str | None = Field(
        default=None,
        description="Address of the mount's metrics, `host:port`. The CSI driver sets `0.0.0.0:9567` without it.",
    )
    attr_cache: int | None = Field(
        default=None, description="Seconds that the kernel keeps attributes. JuiceFS default 1."
    )
    entry_cache: int | None = Field(
        default=None, description="Seconds that the kernel keeps file entries. JuiceFS default 1."
    )
    dir_entry_cache: int | None = Field(
        default=None, description="Seconds that the kernel keeps directory entries. JuiceFS default 1."
    )
    enable_xattr: bool | None = Field(default=None, description="Allow extended attributes.")
    get_timeout: int | None = Field(
        default=None, description="Seconds until a download from the object storage is given up. JuiceFS default 60."
    )
    put_timeout: int | None = Field(
        default=None, description="Seconds until an upload to the object storage is given up. JuiceFS default 60."
    )
    io_retries: int | None = Field(default=None, description="Tries after a network error. JuiceFS default 10.")
    max_uploads: int | None = Field(default=None, description="Number of parallel uploads. JuiceFS default 20.")
    max_downloads: int | None = Field(default=None, description="Number of parallel downloads. Needs JuiceFS 1.4.")
    buffer_size: int | None = Field(
        default=None,
        description="Read and write buffer in MiB; must fit in the mount pod's memory limit. JuiceFS default 300.",
    )
    upload_limit: int | None = Field(default=None, description="Upload bandwidth in Mbit/s. 0 means no limit.")
    download_limit: int | None = Field(default=None, description="Download bandwidth in Mbit/s. 0 means no limit.")
    prefetch: int | None = Field(
        default=None,
        description="Blocks to read ahead in parallel. 0 suits sparse random reads. JuiceFS default 1.",
    )
    max_readahead: int | None = Field(default=None, description="Largest read-ahead window in MiB. Needs JuiceFS 1.3.")
    writeback: bool | None = Field(
        default=None,
        description="Upload in the background. Under the CSI driver, data that was not uploaded can be lost with the mount pod.",
    )
    cache_dir: str | None = Field(
        default=None,
        description="Absolute host directories of the cache, joined by `:`. System directories are refused. `cache.levels` takes precedence.",
    )
    cache_size: int | None = Field(
        default=None,
        description="Size of the cache of one node in MiB, over all its directories. `cache.levels` takes precedence.",
    )
    cache_items: int | None = Field(default=None, description="Largest number of cached blocks. Needs JuiceFS 1.3.")
    cache_expire: str | None = Field(
        default=None, description="Time after which an unused block leaves the cache, such as `24h`. Needs JuiceFS 1.2."
    )
    cache_eviction: Literal["none", "2-random", "lru"] | None = Field(
        default=None, description="How blocks are chosen for eviction. `lru` needs JuiceFS 1.4."
    )
    cache_scan_interval: str | None = Field(
        default=None, description="How often the cache index is rebuilt from disk, such as `1h`."
    )
    cache_mode: str | None = Field(default=None, description="File mode of cached blocks, in octal, such as `0600`.")
    cache_partial_only: bool | None = Field(default=None, description="Cache random small reads only.")
    verify_cache_checksum: Literal["none", "full", "shrink", "extend"] | None = Field(
        default=None, description="How much of a cached block is verified on reading."
    )
    free_space_ratio: str | None = Field(
        default=None,
        description='Share of the disk to leave free, at least 0 and below 1, as a string such as "0.2". JuiceFS default 0.1.',
    )
    open_cache: int | None = Field(
        default=None, description="Seconds that an opened file's attributes are kept. For data that is only read."
    )
    negative_entry_cache: int | None = Field(
        default=None, description="Seconds that failed look-ups are kept. Needs JuiceFS 1.3."
    )
    readdir_cache: bool | None = Field(
        default=None, description="Let the kernel keep directory listings. Needs JuiceFS 1.3."
    )
    sort_dir: bool | None = Field(default=None, description="Sort directory listings by name. Needs JuiceFS 1.3.")
    sub_dir: str | None = Field(
        default=None,
        description="Directory of the volume to mount as its root. JuiceFS calls it `subdir`; the old operator's spelling never reached JuiceFS. Letters, digits and `._/@%+:-`.",
    )
    read_only: bool | None = Field(
        default=None, description="Mount read-only. Warmup, sync and rmr need a writable mount."
    )
    no_bgjob: bool | None = Field(
        default=None, description="Run no background jobs (clean-up, metadata backup) in this client."
    )
    backup_meta: str | None = Field(
        default=None, description="How often metadata is backed up, such as `1h`. `0` turns it off."
    )
    no_usage_report: bool | None = Field(default=None, description="Send no usage report to JuiceFS.")


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
