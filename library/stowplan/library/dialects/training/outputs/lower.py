"""Lowering of `spec.outputs` of a Training: a Job for each, which waits for the end of the run."""

from collections.abc import Iterable, Sequence

from stowplan.library.builders import transfer
from stowplan.library.builders.job import jobs
from stowplan.library.builders.metadata import Head
from stowplan.library.builders.network_policy import network_policy
from stowplan.library.builders.pods import agent_pod, run_container
from stowplan.library.builders.rbac import role_binding, service_account
from stowplan.library.dialects.dataset_task import copying
from stowplan.library.dialects.dataset_task.copying import Copying
from stowplan.library.dialects.training.outputs import attachment
from stowplan.library.dialects.training.outputs.following import COMPONENT, PLURALS
from stowplan.library.dialects.training.outputs.writable import PlacedOutput, Writable
from stowplan.library.ir.data import Site
from stowplan.library.ir.training import TrainingGroup
from stowplan.library.manifest import ExternalReference, Manifest, Part
from stowplan.library.values import labels
from stowplan.library.values.names import HASH_LENGTH
from stowplan.schema.agents.run_end import SKIP_FILE
from stowplan.schema.kinds.native.training import ROLE
from stowplan.schema.meta import ObjectId
from stowplan.schema.platform.platform import Platform


def parts(
    outputs: Sequence[PlacedOutput], group: TrainingGroup, made: Iterable[Manifest], site: Site
) -> tuple[Part, ...]:
    """Return the part `outputs` of a valid Training: a Job for each output, and their rights; no part without outputs.

    `made` are the manifests of the run, with one Job or JobSet that trains. Each Job has a hash of its own, of which
    the name of the run is a part: another `to` copies again, and leaves the run as it is.
    """
    if not outputs:
        return ()
    origin, home, account = group.origin, group.origin.spec.namespace, group.names.outputs
    run = next(each for each in made if _trains(each)).id._replace(namespace=home)
    access = group.names.part("outputs", run.name[-HASH_LENGTH:])
    binding = role_binding(access, Head(origin, COMPONENT), [(home, account)])
    rights = (
        service_account(account, origin, namespace=home),
        network_policy(account, origin, namespace=home, network=site.platform.network, component=COMPONENT),
        run_container.role(access, account, origin, run, PLURALS[run.kind]),
        Manifest(binding.body, stem=account, run=True),
    )
    copies = [_output(output, output.home, group, run, site) for output in outputs if output.home]
    return (Part("outputs", (), (Part("access", rights), *copies)),)


def externals(outputs: Iterable[PlacedOutput], namespace: str) -> set[ExternalReference]:
    """Return references to the Secrets and claims of the places that the outputs are copied to."""
    return {each for placed in outputs for each in copying.externals(placed.output.to, namespace)}


def _trains(manifest: Manifest) -> bool:
    """Return whether this is the Job or JobSet that trains, and not one that helps the run."""
    component = manifest.body["metadata"]["labels"][labels.COMPONENT]
    return manifest.run and manifest.kind in PLURALS and (manifest.kind != "Job" or component == ROLE)


def _output(placed: PlacedOutput, home: Writable, group: TrainingGroup, run: ObjectId, site: Site) -> Part:
    moved = copying.of_copying(_copying(placed, home, group, site.platform))
    configuration = transfer.configuration(moved)
    made = transfer.task(moved, site, configuration.name)
    trainers = group.roles[0].template
    shared = attachment.grouped(made.spec["template"], trainers)
    spec = {**made.spec, "template": run_container.added(shared, run, placed.output.when, site)}
    if home.attachment == "near":
        spec = attachment.near(spec, trainers, group.origin, run.name[-HASH_LENGTH:])
    (found,) = jobs([made._replace(spec=spec)], group.origin, "")
    meta = found.body["metadata"]
    named = {**meta, "labels": {**meta["labels"], labels.OUTPUT: str(placed.number)}}
    copy = Manifest({**found.body, "metadata": named}, stem=found.stem, run=True)
    return Part(f"output-{placed.number}", (configuration, copy))


def _copying(placed: PlacedOutput, home: Writable, group: TrainingGroup, platform: Platform) -> Copying:
    resources, output, index = platform.resources, placed.output, placed.number
    spec, stem = group.origin.spec, f"{group.names.base}-output-{index}"
    return Copying(
        origin=group.origin,
        component=COMPONENT,
        stem=stem,
        configuration_stem=stem,
        account=group.names.outputs,
        claim=home.claim,
        path=copying.joined(home.sub_path, home.inside(output.path)),
        to=output.to,
        state=f"trainings/{spec.name}-{index}",
        links=output.links or "follow",
        user=_user(group, home, platform),
        # Until the run has ended, which may take days, the pod only waits.
        resources={**agent_pod.amounts(resources.task), "requests": agent_pod.amounts(resources.control)["requests"]},
        tolerations=home.tolerations,
        skip_file=SKIP_FILE,
    )


def _user(group: TrainingGroup, home: Writable, platform: Platform) -> int:
    """Return the user who can read what the trainer wrote: that of tasks on a JuiceFS volume, else the trainer's."""
    if home.cached:
        return platform.juicefs.task_user
    (role,) = group.roles
    spec = role.template["spec"]
    contexts = (spec["containers"][role.container].get("securityContext"), spec.get("securityContext"))
    given = next((each["runAsUser"] for each in contexts if each and each.get("runAsUser")), agent_pod.AGENT_USER)
    return int(given)
