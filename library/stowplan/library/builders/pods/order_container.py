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
_COMMAND = ("python", "-m", "stowplan.agents.wait_spec")


def containers(after: Sequence[SpecId], site: Site) -> tuple[Json, ...]:
    """Return the init container of a pod that runs after the specs `after`, all of one namespace; empty without any."""
    if not after:
        return ()
    args = ["--namespace", after[0].namespace, *(f"--spec={each.kind}/{each.name}" for each in after)]
    pod = agent_pod.field_env(POD_ENV, "metadata.name")
    return (agent_pod.control(CONTAINER, _COMMAND, site, args=args, env=[pod]),)
