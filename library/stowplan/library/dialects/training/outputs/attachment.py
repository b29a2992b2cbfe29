"""How the pod of an output shares a claim with the trainer: where it can run, and whose group the files have."""

from stowplan.library.builders.pods import affinity
from stowplan.library.ir.data import Origin
from stowplan.library.manifest import Json
from stowplan.library.values import labels


def near(spec: Json, template: Json, origin: Origin, run: str) -> Json:
    """Return the spec of a Job, `spec`, changed so that its pod runs on the node of a trainer's pod while that exists.

    `origin` is that of the Training, `template` the pod template of its trainers, whose tolerations the pod needs too,
    and `run` the hash of its run. Attempts are containers of one pod, since a pod that is made after the trainer's end
    would find no node; so there is no policy for failures of pods.
    """
    pod = spec["template"]["spec"]
    tolerations = [*(pod.get("tolerations") or ()), *(template["spec"].get("tolerations") or ())]
    changed = {
        **pod,
        "affinity": _affinity(labels.run_selector(origin.spec, run)),
        "restartPolicy": "OnFailure",
        **(
            {"tolerations": [each for at, each in enumerate(tolerations) if each not in tolerations[:at]]}
            if tolerations
            else {}
        ),
    }
    # Kubernetes allows rules about exit codes only for pods that are never restarted.
    rest = {key: value for key, value in spec.items() if key != "podFailurePolicy"}
    return {**rest, "template": {**spec["template"], "spec": changed}}


def grouped(template: Json, trainer: Json) -> Json:
    """Return the pod template of an output with the `fsGroup` of the trainer's pod template, if only that one has one.

    Kubernetes gives the files of a local volume to the group of the first pod of a node that mounts it, and not if that
    pod mounts it read-only (`pkg/volume/local/local.go` `SetUpAt`, 1.37). The pod of the output may be that first pod.
    Its container still mounts the claim read-only.
    """
    pod = template["spec"]
    group = (trainer["spec"].get("securityContext") or {}).get("fsGroup")
    if group is None or "fsGroup" in pod["securityContext"]:
        return template
    security = {**pod["securityContext"], "fsGroup": group, "fsGroupChangePolicy": "OnRootMismatch"}
    volumes = [_writable(each) for each in pod["volumes"]]
    return {**template, "spec": {**pod, "securityContext": security, "volumes": volumes}}


def _writable(volume: Json) -> Json:
    claim = volume.get("persistentVolumeClaim")
    if claim is None:
        return volume
    return {**volume, "persistentVolumeClaim": {key: value for key, value in claim.items() if key != "readOnly"}}


def following(spec: Json, run: str) -> Json:
    """Return a Job's spec that `near` returned, near the trainer of the run with the hash `run`; others unchanged."""
    pod = spec["template"]["spec"]
    if "affinity" not in pod:
        return spec
    ((term,),) = pod["affinity"]["podAffinity"].values()
    near_run = _affinity({**term["labelSelector"]["matchLabels"], labels.RUN_HASH: run})
    return {**spec, "template": {**spec["template"], "spec": {**pod, "affinity": near_run}}}


def _affinity(selected: dict[str, str]) -> Json:
    return {"podAffinity": affinity.required(affinity.same_node(selected))}
