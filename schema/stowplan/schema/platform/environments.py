"""Environments of a platform file: where the specs of one repository go, and what is different there."""

from typing import Annotated, Any, Literal

from pydantic import Field

from stowplan.schema.meta import Digest, DnsLabel, Model
from stowplan.schema.platform.policy import Policy
from stowplan.schema.platform.settings import Settings

_ADOPTS = "Of no use: `stowplan adopt` takes over the output that the repository had before it had environments."


class Cluster(Model):
    """One of the clusters of an environment."""

    name: DnsLabel = Field(
        description="Name of the cluster: its folder in `out/<environment>`, and the end of the names of its Argo CD objects."
    )
    server: str | None = Field(
        default=None,
        max_length=253,
        description="URL of its API server, as Argo CD knows it. Without it, `argocd.destination` of the environment.",
    )
    labels: dict[str, str] = Field(
        default_factory=dict,
        max_length=32,
        description="Labels of the Argo CD objects of this cluster, for example to select its Applications by region.",
    )
    adopts: Literal["."] | None = Field(default=None, description=_ADOPTS)


class PatchTarget(Model):
    """The specs that a patch changes: those that have all of the given values."""

    kind: str = Field(description="Kind of the specs.", max_length=63)
    name: str | None = Field(default=None, max_length=253, description="Name of the spec. Without it, all of the kind.")
    namespace: str | None = Field(
        default=None, max_length=63, description="Namespace of the specs. Without it, specs of any namespace."
    )


class JsonOperation(Model):
    """One operation of a JSON Patch (RFC 6902)."""

    op: Literal["add", "remove", "replace", "move", "copy", "test"] = Field(description="What to do.")
    path: str = Field(
        max_length=1024,
        description="JSON Pointer to the field, such as `/spec/numNodes` or, for a key `a/b`, `/metadata/labels/a~1b`.",
    )
    from_: str | None = Field(
        default=None, alias="from", max_length=1024, description="JSON Pointer to the field that is moved or copied."
    )
    value: Any = Field(default=None, description="The value that is added, put in place of another one, or expected.")


class SpecPatch(Model):
    """A change of specs before they are compiled. It has `merge` or `json`."""

    target: PatchTarget = Field(description="The specs to change. At least one must exist.")
    merge: dict[str, Any] | None = Field(
        default=None,
        description="Fields to merge over those of the spec. Null removes a field; a list takes the place of the old one, but values of Kubernetes types, such as pod templates and variables, are merged by Kubernetes' strategic merge.",
    )
    json_: list[JsonOperation] | None = Field(
        default=None,
        alias="json",
        min_length=1,
        max_length=256,
        description="Operations of a JSON Patch (RFC 6902), applied in their order.",
    )


class StartedRun(Model):
    """A run that may start in an environment with `runs: manual`."""

    kind: str = Field(description="Kind of the training job.", max_length=63)
    name: str = Field(description="Its name.", max_length=253)
    namespace: str | None = Field(
        default=None, max_length=63, description="Its namespace. Without it, `defaultNamespace`."
    )
    run: str = Field(
        max_length=63,
        description="The eight characters at the end of the names of the run's Jobs. `stowplan synth` says them.",
    )
    digest: Digest | None = Field(
        default=None,
        description="Digest of what the run does. `stowplan synth` says it. Without it, whatever has the eight characters may start, and a spec can be made to have them.",
    )


class Environment(Model):
    """One of the places that the specs go to, such as `dev` or `prod`. Its output is in `out/<name>`."""

    name: DnsLabel = Field(
        description="Name of the environment: its folder in the output, and the end of the names of its Argo CD objects."
    )
    clusters: list[Cluster] = Field(
        default_factory=list,
        max_length=64,
        description="Its clusters, with output in `out/<environment>/<cluster>`. Without any, the one of `argocd.destination`.",
    )
    adopts: Literal["."] | None = Field(default=None, description=_ADOPTS)
    settings: Settings = Field(
        default=Settings.model_construct(),
        alias="set",
        description="Fields of this platform file that are different here. Mappings are merged, lists replaced.",
    )
    only: list[Annotated[str, Field(min_length=1, max_length=512)]] = Field(
        default_factory=list,
        max_length=64,
        description="Files of specs that belong to this environment, as patterns such as `specs/**` and, for files to leave out, `!specs/prod-*`. The last pattern that fits a file counts. Without any, all files.",
    )
    patches: list[SpecPatch] = Field(
        default_factory=list, max_length=256, description="Changes of specs in this environment, in their order."
    )
    policy: Policy = Field(default=Policy.model_construct(), description="Fields of `policy` that are different here.")
    runs: Literal["automatic", "manual"] = Field(
        default="automatic",
        description="`manual`: no training starts here because of a change of a spec. Only the runs in `start` are written; datasets, rights and custom resources go on.",
    )
    start: list[StartedRun] = Field(
        default_factory=list, max_length=1024, description="With `runs: manual`: the runs that may start here."
    )
