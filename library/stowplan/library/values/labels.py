"""Keys of all labels and annotations."""

from stowplan.library.values.names import LABEL_LIMIT, shorten
from stowplan.schema.meta import SpecId

NAME = "app.kubernetes.io/name"
COMPONENT = "app.kubernetes.io/component"
PART_OF = "app.kubernetes.io/part-of"
MANAGED_BY = "app.kubernetes.io/managed-by"
SPEC_KIND = "stowplan.dev/kind"
SPEC_NAME = "stowplan.dev/name"

SPEC_NAMESPACE = "stowplan.dev/namespace"
"""Label of objects outside of their spec's namespace: the namespace of the spec."""

ROLE = "stowplan.dev/role"
"""Label of a training pod: its role."""
RUN_HASH = "stowplan.dev/run-hash"
"""Label of a training pod: the hash at the end of the names of its run's objects."""

CACHE_POD = "runtime"
"""Value of `COMPONENT` of the pods that cache a dataset, and of what belongs to them."""

OUTPUT = "stowplan.dev/output"
"""Label of a Job that copies an output of a training run: the output's place in the list of the spec, from 0."""

LARGER_CACHE = "stowplan.dev/larger-cache"
"""Annotation of a warmup that a larger cache has started again: what its name is the hash of."""

SOURCE = "stowplan.dev/source"
"""Annotation: the path of the spec's file. It has no line number, so that an edit above the spec changes nothing."""

JOB_NAME = "batch.kubernetes.io/job-name"
JOB_INDEX = "batch.kubernetes.io/job-completion-index"
POD_NAME = "statefulset.kubernetes.io/pod-name"
HOSTNAME = "kubernetes.io/hostname"

SYNC_WAVE = "argocd.argoproj.io/sync-wave"
SYNC_OPTIONS = "argocd.argoproj.io/sync-options"
COMPARE_OPTIONS = "argocd.argoproj.io/compare-options"

KEEP = "Prune=false,Delete=false"
"""Sync option of objects that hold data: neither a prune nor the removal of the Application deletes them."""
REMOVE = "Prune=true,Delete=true"
"""Sync option of objects of a volume that its spec does not retain. It states Argo CD's default."""
SKIP_DRY_RUN = "SkipDryRunOnMissingResource=true"
"""Sync option of custom resources: a sync does not fail while the cluster lacks their CRD.

See https://argo-cd.readthedocs.io/en/stable/user-guide/sync-options/.
"""
IGNORE_EXTRANEOUS = "IgnoreExtraneous"
"""Compare option of objects that stay in the cluster after their removal from Git.

Argo CD then does not report its Application as OutOfSync.
"""


def of_spec(spec: SpecId) -> dict[str, str]:
    """Return the labels that all objects of a spec have. `app.kubernetes.io/instance` is left to Argo CD."""
    return {
        NAME: spec.kind.lower(),
        PART_OF: "stowplan",
        MANAGED_BY: "stowplan",
        SPEC_KIND: spec.kind,
        SPEC_NAME: shorten(spec.name, LABEL_LIMIT),
    }


def standard(spec: SpecId, component: str) -> dict[str, str]:
    """Return the labels of a pod of a spec, and of what else is inside of an object: those of the spec, and its own."""
    return {**of_spec(spec), COMPONENT: component}


def with_option(options: str, option: str) -> str:
    """Return `options`, a value of `SYNC_OPTIONS` separated by commas, with `option` at its end unless it is in it."""
    own = (each.strip() for each in options.split(","))
    return ",".join(dict.fromkeys([*filter(None, own), option]))


def is_reserved(key: str) -> bool:
    """Return whether only Stowplan may set the label `key`, so that a user's value is ignored."""
    return key in (NAME, COMPONENT, PART_OF, MANAGED_BY) or key.startswith("stowplan.dev/")


def spec_selector(spec: SpecId) -> dict[str, str]:
    """Return the labels that select all pods of a spec in its namespace."""
    return {SPEC_KIND: spec.kind, SPEC_NAME: shorten(spec.name, LABEL_LIMIT)}


def component_selector(spec: SpecId, component: str) -> dict[str, str]:
    """Return the labels that select the pods of one component of a spec, such as `runtime`."""
    return {**spec_selector(spec), COMPONENT: component}


def legacy_dataset(name: str) -> dict[str, str]:
    """Return the label that paddle-operator put on all objects of a SampleSet; empty if its key would be too long."""
    key = f"juicefs-{name}"
    return {f"paddlepaddle.org/{key}": "true"} if len(key) <= LABEL_LIMIT else {}


def run_selector(spec: SpecId, run: str) -> dict[str, str]:
    """Return the labels that select the pods of one run of a training job. `run` is the hash of the run."""
    return {**spec_selector(spec), RUN_HASH: run}


def role_selector(spec: SpecId, run: str, role: str) -> dict[str, str]:
    """Return the labels that select the pods of one role in one run. `run` is the hash of the run."""
    return {**spec_selector(spec), RUN_HASH: run, ROLE: role}
