"""Whether a spec is done, by the status of its custom resource."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from stowplan.schema.kinds.table import KINDS


class View(NamedTuple):
    """Result of a look at a custom resource; `text` says why it is done or not."""

    done: bool
    text: str


def look(kind: str, resource: Mapping[str, Any]) -> View:
    """Return whether a custom resource of this kind is done.

    A condition counts only if it is about the newest version of the spec: an edited task is not done before its new
    run is. A spec that has failed is not done, but may be later, when somebody has mended it.
    """
    status = resource.get("status") or {}
    wanted = KINDS[kind].DONE
    found = next((each for each in status.get("conditions") or () if each.get("type") == wanted), None)
    if found is None:
        return View(done=False, text="nothing is known of it yet")
    generation = found.get("observedGeneration", status.get("observedGeneration"))
    if generation is not None and generation != resource["metadata"].get("generation"):
        return View(done=False, text="its newest version was not seen yet")
    if found.get("status") != "True":
        return View(done=False, text=str(found.get("message") or found.get("reason") or f"it is not {wanted}"))
    return View(done=True, text=f"it is {wanted}")
