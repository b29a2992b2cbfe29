"""The init containers that Stowplan adds to pods of training jobs: each waits for something."""

from stowplan.library.builders.pods import peers_container, wait_container
from stowplan.library.manifest import Json


def is_ours(container: Json) -> bool:
    """Return whether Stowplan added this init container, which waits for a dataset or for peers."""
    return wait_container.is_ours(container) or peers_container.is_ours(container)
