"""The init containers and sidecars that Stowplan adds to pods of training jobs: one fetches code, the others wait."""

from stowplan.library.builders.pods import code_container, lineage_container, peers_container, wait_container
from stowplan.library.manifest import Json


def is_ours(container: Json) -> bool:
    """Return whether Stowplan added this init container: it fetches code, or waits for data, peers or a lineage."""
    ours = (wait_container, peers_container, lineage_container, code_container)
    return any(each.is_ours(container) for each in ours)
