"""Init container that holds a task's pod back until other specs are done.

It reads the custom resources of these specs with the token of the pod, whose Role names them.
"""

from collections.abc import Sequence

from stowplan.library.builders.pods import agent_pod
from stowplan.library.ir.data import Site
from stowplan.library.manifest import Json
from stowplan.schema.agents.agent_config import POD_ENV
from stowplan.schema.meta import SpecId

CONTAINER = "wait-spec"


def containers(after: Sequence[SpecId], site: Site) -> tuple[Json, ...]:
    """Return the init container of a pod whose task runs after the specs `after`; nothing if there are none."""
    if not after:
        return ()
    container: Json = {
        "name": CONTAINER,
        "image": agent_pod.image(site, "control"),
        "command": ["python", "-m", "stowplan.agents.wait_spec"],
        "args": ["--namespace", after[0].namespace, *(f"--spec={each.kind}/{each.name}" for each in after)],
        "env": [agent_pod.field_env(POD_ENV, "metadata.name")],
        "resources": agent_pod.amounts(site.platform.resources.control),
        "securityContext": agent_pod.restricted_container(),
    }
    return (container,)
