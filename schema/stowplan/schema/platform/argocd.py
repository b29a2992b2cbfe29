"""How Argo CD finds and syncs the output."""

from typing import Annotated, Literal

from pydantic import Field

from stowplan.schema.meta import DnsLabel, Model


class Destination(Model):
    """The cluster that Argo CD syncs to."""

    server: str | None = Field(
        default=None,
        description="URL of the API server. Without it and `name`, the cluster that Argo CD runs in.",
        max_length=253,
    )
    name: str | None = Field(
        default=None, description="Name of the cluster in Argo CD, instead of `server`.", max_length=253
    )
    namespaces: list[Annotated[str, Field(max_length=253)]] = Field(
        default=["*"],
        description="Namespaces, or patterns of them, that the AppProject allows.",
        min_length=1,
        max_length=256,
    )


class ArgoCD(Model):
    """How Argo CD finds and syncs the output."""

    name: DnsLabel = Field(default="stowplan", description="Name of the AppProject, and prefix of every Application.")
    namespace: DnsLabel = Field(default="argocd", description="Namespace that Argo CD runs in.")
    root_project: DnsLabel | None = Field(
        default=None,
        description="An AppProject of yours for the root Application, which syncs the AppProjects and all Applications. Without it, Stowplan writes one, `<name>-root`, that allows only these two kinds, from `repoURL` into `namespace`.",
    )
    repo_url: str | None = Field(
        default=None,
        alias="repoURL",
        description="Git repository that holds the output. Without it, no Argo CD objects are written.",
        max_length=512,
    )
    target_revision: str = Field(default="HEAD", description="Branch, tag or commit to sync.", max_length=253)
    path: str = Field(default="out", description="Path of the output in that repository.", max_length=512)
    destination: Destination = Field(default=Destination.model_construct(), description="The cluster to sync to.")
    labels: dict[str, str] = Field(
        default_factory=dict, max_length=64, description="Labels of the AppProjects and Applications."
    )
    crds: Literal["emit", "external"] = Field(
        default="emit", description="`external` when another repository of the same cluster brings the CRDs."
    )
