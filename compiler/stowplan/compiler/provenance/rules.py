"""Rules: sentences that explain the values which no field of a spec decides.

The first rule that matches a leaf applies. Patterns are JSON pointers. In a pattern, `pod` stands for the path of a pod
template, and `job` for that of a Job, in every kind. `*` matches one step, `**` at the end any number of steps.
"""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from stowplan.compiler.provenance.leaves import pointer
from stowplan.library.dialects.registry import DIALECTS
from stowplan.library.engines.registry import ENGINE_KINDS
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.kinds.table import KINDS, TRAINING_KINDS


@dataclass(frozen=True, slots=True)
class Rule:
    """Reason for values as a sentence (`text`), and the patterns of their places.

    `kinds` are kinds of objects and `specs` kinds of specs to which the rule applies; empty for all.
    """

    id: str
    text: str
    places: tuple[str, ...]
    kinds: tuple[str, ...] = ()
    specs: tuple[str, ...] = ()

    def fits(self, kind: str, spec: str, place: str) -> bool:
        """Whether the rule is for the JSON pointer `place`, perhaps with `pod` or `job`. For `kind` see `rule_of`."""
        known = (not self.kinds or kind in self.kinds) and (not self.specs or spec in self.specs)
        return known and any(_fits(place, pattern) for pattern in self.places)


def _rule(name: str, text: str, places: str, *, kinds: str = "", specs: str = "") -> Rule:
    return Rule(name, text, tuple(places.split()), tuple(kinds.split()), tuple(specs.split()))


_TEMPLATES = re.compile(
    r"^/spec/(?:template|jobTemplate/spec/template|replicatedJobs/[^/]*/template/spec/template)(?=/)"
)
_JOBS = re.compile(r"^/spec/(?:jobTemplate|replicatedJobs/[^/]*/template)/(?:spec|(?=metadata))")

RULES: tuple[Rule, ...] = (
    *(_rule(*each, kinds=kind.kind) for kind in ENGINE_KINDS for each in kind.reasons),
    *(_rule(*each, specs=kind) for kind in KINDS for each in DIALECTS[kind].reasons),
    _rule(
        "identity",
        "Every object has the version and kind that Kubernetes knows it by.",
        "/apiVersion /kind",
    ),
    _rule(
        "crd",
        "CustomResourceDefinitions are made from the models of the kinds, whichever the specs use.",
        "/**",
        kinds="CustomResourceDefinition",
    ),
    _rule(
        "labels",
        "Every object and pod carries labels that say what made it, from which spec, and which part of it it is.",
        "/metadata/labels/app.kubernetes.io~1* /metadata/labels/stowplan.dev~1* "
        "pod/metadata/labels/stowplan.dev~1* pod/metadata/labels/app.kubernetes.io~1* /spec/selector/matchLabels/** "
        "/spec/jobTemplate/metadata/labels/* /spec/replicatedJobs/*/template/metadata/labels/*",
    ),
    _rule(
        "source",
        "The annotation names the file of the spec.",
        "/metadata/annotations/stowplan.dev~1source",
    ),
    _rule(
        "legacy-labels",
        "Labels of the old operators stay, since others may select on them.",
        "/metadata/labels/paddlepaddle.org~1* pod/metadata/labels/paddlepaddle.org~1* "
        "pod/metadata/labels/* pod/metadata/annotations/paddle-resource",
    ),
    _rule(
        "waves",
        "Argo CD applies first what has no health check, so that no wave waits; everything that runs comes last.",
        "/metadata/annotations/argocd.argoproj.io~1sync-wave",
    ),
    _rule(
        "argocd-protection",
        "What holds data is neither pruned nor deleted by Argo CD; custom resources need no CRD at the dry run.",
        "/metadata/annotations/argocd.argoproj.io~1sync-options "
        "/metadata/annotations/argocd.argoproj.io~1compare-options",
    ),
    _rule(
        "project",
        "The project allows the closed list of kinds that this platform may emit, and no other.",
        "/**",
        kinds="AppProject",
    ),
    _rule(
        "application",
        "Applications sync by server-side apply, one for each folder of the output.",
        "/**",
        kinds="Application",
    ),
    _rule(
        "namespace",
        "Namespaces are written where the platform asks for it.",
        "/**",
        kinds="Namespace",
    ),
    _rule(
        "reporter",
        "One small Deployment in each namespace with specs reads their objects and writes their status.",
        "/**",
        kinds="Deployment",
    ),
    _rule(
        "names",
        "Objects are named after the spec and what they are for; their namespace is the spec's.",
        "/metadata/name /metadata/namespace /spec/claimRef/namespace /**/secretRef/namespace "
        "/spec/csi/nodePublishSecretRef/namespace /spec/claimRef/kind /spec/claimRef/apiVersion",
    ),
    _rule(
        "run-hash",
        "What belongs to one run ends in a hash over its immutable parts, so that an edit makes a new run.",
        "/metadata/labels/stowplan.dev~1run-hash pod/metadata/labels/stowplan.dev~1run-hash",
    ),
    _rule(
        "immutable-config",
        "What agents read never changes: its name ends in a hash of it.",
        "/immutable",
        kinds="ConfigMap",
    ),
    _rule(
        "agent-config",
        "What the agent of the spec reads, in the version of the contract that this compiler writes.",
        "/data/config.json#/**",
        kinds="ConfigMap",
    ),
    _rule(
        "least-privilege",
        "An account may read its one object and write its status; the reporter reads its namespace.",
        "/rules/** /roleRef/** /subjects/** /automountServiceAccountToken",
        kinds="Role RoleBinding ServiceAccount",
    ),
    _rule(
        "network",
        "Nobody may call agents; they may call out unless the platform lists where.",
        "/spec/**",
        kinds="NetworkPolicy",
    ),
    _rule(
        "volume",
        "Volumes are bound to their claims by name, are kept whatever happens to them, and all nodes may write.",
        "/spec/**",
        kinds="PersistentVolume PersistentVolumeClaim",
    ),
    _rule(
        "disruption",
        "One cache pod at a time may be drained.",
        "/spec/**",
        kinds="PodDisruptionBudget",
    ),
    _rule(
        "service",
        "Pods find each other by DNS names, from before they are ready.",
        "/spec/**",
        kinds="Service",
    ),
    _rule(
        "cache-pods",
        "One cache pod on each of `partitions` nodes, all started at once.",
        "/spec/podManagementPolicy /spec/updateStrategy/** /spec/persistentVolumeClaimRetentionPolicy/** "
        "/spec/serviceName /spec/revisionHistoryLimit /spec/replicas /spec/minReadySeconds",
        kinds="StatefulSet",
    ),
    _rule(
        "retries",
        "An eviction is no failure, and a pod is replaced only when it is gone; the exit codes of agents say whether "
        "another attempt can help.",
        "job/podFailurePolicy/** job/backoffLimit job/backoffLimitPerIndex job/podReplacementPolicy "
        "job/maxFailedIndexes job/activeDeadlineSeconds",
    ),
    _rule(
        "job-shape",
        "A task is one pod; a role of a training job is one Indexed Job with a pod for each replica.",
        "job/completions job/parallelism job/completionMode job/suspend job/manualSelector "
        "/metadata/annotations/kueue.x-k8s.io~1* job/successPolicy/**",
    ),
    _rule(
        "schedule",
        "Runs of one schedule never overlap, and a late one may begin for an hour; three of each outcome are kept.",
        "/spec/concurrencyPolicy /spec/startingDeadlineSeconds /spec/*JobsHistoryLimit /spec/timeZone /spec/suspend",
        kinds="CronJob",
    ),
    _rule(
        "gang-pods",
        "The pods belong to their gang.",
        "pod/metadata/annotations/** pod/spec/schedulerName pod/spec/schedulingGates/**",
    ),
    _rule(
        "restricted-pods",
        'Every pod that Stowplan writes passes Pod Security "restricted": no root, no capabilities, no writable root.',
        "pod/spec/securityContext/** pod/spec/containers/*/securityContext/** "
        "pod/spec/initContainers/*/securityContext/** pod/spec/automountServiceAccountToken "
        "pod/spec/enableServiceLinks pod/spec/hostUsers",
    ),
    _rule(
        "agent-resources",
        "What the agent was measured to need.",
        "pod/spec/containers/*/resources/** pod/spec/initContainers/*/resources/** "
        "pod/spec/terminationGracePeriodSeconds",
    ),
    _rule(
        "probes",
        "The agent itself says whether it lives and is ready; the kubelet runs it for that.",
        "pod/spec/*/*/livenessProbe/** pod/spec/*/*/readinessProbe/** pod/spec/*/*/startupProbe/**",
    ),
    _rule(
        "placement",
        "Pods go where the dataset is cached, and cache pods to different nodes.",
        "pod/spec/affinity/** pod/spec/topologySpreadConstraints/**",
    ),
    _rule(
        "rendezvous",
        "What the framework needs so that the pods of a job find each other: variables, ports, and who restarts.",
        "pod/spec/containers/*/env/** pod/spec/*/*/ports/**",
        specs=" ".join(TRAINING_KINDS),
    ),
    _rule(
        "agent-images",
        "Agents run from the image <registry>/stowplan-<agent>:<tag>; `images` in the platform file gives both.",
        "pod/spec/containers/*/image pod/spec/initContainers/*/image "
        "pod/spec/containers/*/imagePullPolicy pod/spec/initContainers/*/imagePullPolicy pod/spec/imagePullSecrets/**",
    ),
    _rule(
        "agent-container",
        "How the agent is started: its program, its arguments, and what it reads and writes.",
        "pod/spec/containers/** pod/spec/initContainers/** pod/spec/volumes/** pod/spec/serviceAccountName",
    ),
    _rule(
        "restart",
        "Attempts are counted by the Job, not by the kubelet; helpers are restarted until the job is done.",
        "pod/spec/restartPolicy pod/spec/setHostnameAsFQDN pod/spec/subdomain pod/spec/hostname pod/metadata/**",
    ),
)


def rule_of(kind: str, spec: str, path: FieldPath) -> Rule | None:
    """Return the rule that explains a leaf; None if no rule matches.

    `kind` is the kind of the object, and `spec` the kind of its spec, empty for objects of the platform file.
    """
    whole = pointer(path)
    places = {whole, _TEMPLATES.sub("pod", whole), _JOBS.sub("job", whole)}
    if kind in ("Job",):
        places.add(re.sub(r"^/spec(?=/)", "job", whole))
    return next((rule for rule in RULES if any(rule.fits(kind, spec, place) for place in places)), None)


def _fits(place: str, pattern: str) -> bool:
    """Whether a pattern matches a place. `**` at its end matches any steps, and at its beginning any prefix."""
    if pattern.startswith("/**/"):
        return place.endswith(pattern[3:])
    steps, wanted = place.split("/"), pattern.removesuffix("/**").split("/")
    if len(steps) < len(wanted) or (len(steps) > len(wanted) and not pattern.endswith("/**")):
        return False
    return all(fnmatchcase(step, each) for step, each in zip(steps, wanted, strict=False))
