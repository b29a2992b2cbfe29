"""Progress of a dataset or a task in words, from the custom resource of a cluster."""

from stowplan.library.manifest import Json


def cached(resource: Json) -> str:
    """Return how much of a dataset is cached, such as `2Gi of 3Gi cached`; empty if it is not known."""
    sizes = (resource.get("status") or {}).get("cacheStatus") or {}
    done, total = sizes.get("cachedSize"), sizes.get("totalSize")
    return f"{done} of {total} cached" if done and total else ""


def files(resource: Json, task: str) -> str:
    """Return how many files attempts at `task`, such as `sync`, have done: `1 of 2,000 files`; empty if none counts."""
    attempts = [each for each in (resource.get("status") or {}).get("attempts") or [] if each.get("task") == task]
    done, total = (sum(int(each.get(key) or 0) for each in attempts) for key in ("files", "totalFiles"))
    return f"{done:,} of {total:,} files" if total else ""
