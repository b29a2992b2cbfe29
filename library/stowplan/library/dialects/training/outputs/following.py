"""The objects that copy outputs, changed to follow another run of their Training than the one they were compiled for.

Where an edit concerns outputs alone, the run is the committed one, which an older version may have compiled under
another name. Its outputs are copied from that run: it does not train again.
"""

from stowplan.library.builders import job
from stowplan.library.builders.pods import run_container
from stowplan.library.dialects.training.outputs import attachment
from stowplan.library.engines.registry import ENGINE_KINDS
from stowplan.library.manifest import Json, Manifest
from stowplan.library.values import labels, names
from stowplan.library.values.names import HASH_LENGTH
from stowplan.schema.meta import ObjectId

COMPONENT = "output"
PLURALS = {each.kind: each.plural for each in ENGINE_KINDS if each.starts}
"""The names in URLs of the kinds of runs."""


def copies(manifest: Manifest) -> bool:
    """Return whether this is an object of a run that copies outputs: the Job, its configuration or its rights."""
    return manifest.run and (manifest.body["metadata"].get("labels") or {}).get(labels.COMPONENT) == COMPONENT


def following(manifest: Manifest, run: ObjectId) -> Manifest:
    """Return an object of `copies` that follows the Job or JobSet `run`; itself if that makes no difference to it."""
    body, suffix = manifest.body, run.name[-HASH_LENGTH:]
    match manifest.kind:
        case "Role":
            changed = _named(body, suffix) | {"rules": run_container.rules(run, PLURALS[run.kind])}
        case "RoleBinding":
            changed = _named(body, suffix)
            changed["roleRef"] = {**body["roleRef"], "name": changed["metadata"]["name"]}
        case "Job":
            template = run_container.following(body["spec"]["template"], run)
            spec = attachment.following({**body["spec"], "template": template}, suffix)
            task = job.Task(manifest.stem, COMPONENT, manifest.namespace, spec)
            changed = _named(body, job.group_hash([task], "")) | {"spec": spec}
        case _:
            changed = body
    return Manifest(changed, stem=manifest.stem, run=True)


def _named(body: Json, suffix: str) -> Json:
    name = f"{names.without_hash(body['metadata']['name'])}-{suffix}"
    return {**body, "metadata": {**body["metadata"], "name": name}}
