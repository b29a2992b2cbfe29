"""Applications of Argo CD over folders of plain objects, which the compiler might refuse."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from stowplan.library.delivery import argocd as builder
from stowplan.schema.platform import argocd as settings
from tests.cluster.client import Manifest, ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.nightly.argocd.argocd import SECONDS, ArgoCD, is_settled, summary
from tests.nightly.argocd.user_repository import UserRepository

_OBJECTS = "objects.yaml"


@dataclass(frozen=True)
class PlainApplication:
    """One Application, the folder that it syncs, and the namespace of its name that holds the objects."""

    name: str
    argocd: ArgoCD
    repository: UserRepository

    def commit(self, objects: Sequence[Manifest]) -> str:
        """Let the folder hold exactly these objects; gives the commit."""
        self.repository.write(f"{self.name}/{_OBJECTS}", yaml.safe_dump_all(objects))
        return self.repository.commit()

    def deliver(self, objects: Sequence[Manifest]) -> str:
        """Commit, and wait until Argo CD has synced it."""
        revision = self.commit(objects)
        self.await_sync(revision)
        return revision

    def await_sync(self, revision: str) -> None:
        try:
            wait_for(lambda: is_settled(self.live(), revision), SECONDS, what="sync")
        except TimeoutError:
            raise TimeoutError(f"not synced to {revision}: {summary(self.live())}") from None

    def await_message(self, message: str) -> None:
        """Wait until an operation runs and says just this."""
        try:
            wait_for(lambda: self._operation() == ("Running", message), SECONDS, what=message)
        except TimeoutError:
            raise TimeoutError(f"not {message!r}: {self._operation()}") from None

    def _operation(self) -> tuple[str, str]:
        """Phase and message."""
        operation = self.argocd.operation(self.name)
        return operation.get("phase", ""), operation.get("message", "")

    def await_seen(self, revision: str) -> None:
        """Wait until Argo CD has compared this commit with the cluster, whether or not it syncs it."""
        wait_for(lambda: self.argocd.seen(self.name) == revision, SECONDS, what=f"{revision}, seen")

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Without automated syncs until the block ends."""
        automated = self.live()["spec"]["syncPolicy"]["automated"]
        self._automate(None)
        yield
        self._automate(automated)

    def _automate(self, automated: Manifest | None) -> None:
        self.argocd.client.patch(self.live(), {"spec": {"syncPolicy": {"automated": automated}}})

    def live(self) -> Manifest:
        return self.argocd.application(self.name)

    def names(self, *kinds: tuple[str, str]) -> set[str]:
        """The objects of these kinds (apiVersion and kind) that Argo CD has applied, as `<kind>/<name>`."""
        return {
            f"{kind}/{item['metadata']['name']}"
            for api_version, kind in kinds
            for item in self.argocd.client.list(api_version, kind, self.name)
            if "argocd.argoproj.io/tracking-id" in item["metadata"].get("annotations", {})
        }


@dataclass(frozen=True)
class PlainApplications:
    """Makes Applications over the folders of one repository."""

    cluster: Cluster
    argocd: ArgoCD
    repository: UserRepository
    url: str

    @contextmanager
    def application(
        self,
        name: str,
        objects: Sequence[Manifest],
        *options: str,
        kinds: Sequence[str] = ("*",),
        ignored: Sequence[Manifest] = (),
        **automated: bool,
    ) -> Iterator[PlainApplication]:
        """An Application that has synced the objects, as the compiler writes it but for these options.

        Its AppProject allows `kinds` of any group, and `ignored` are its `ignoreDifferences`. At the end the
        Application goes, whatever operation may be running.
        """
        self.cluster.namespace(name, "baseline")
        made = PlainApplication(name, self.argocd, self.repository)
        self.repository.write(f"{name}/README.md", "Keeps the folder where it has no objects.\n")
        revision = made.commit(objects)
        self.allow(name, kinds)
        body = builder.application(
            self._settings(), name, folder=name, namespace=name, cascade=False, ignored=ignored
        ).body
        body["metadata"]["name"] = name
        body["spec"]["project"] = name
        body["spec"]["syncPolicy"]["syncOptions"] += options
        body["spec"]["syncPolicy"]["automated"] |= automated
        self.cluster.admin.apply(body, manager="admin")
        made.await_sync(revision)
        try:
            yield made
        finally:
            self.cluster.admin.delete(ref(builder.API_VERSION, "Application", name, self.argocd.namespace))

    def allow(self, name: str, kinds: Sequence[str]) -> None:
        """Let the AppProject of an Application allow these kinds from now on."""
        self.cluster.admin.apply(self.project(name, kinds), manager="admin")

    def project(self, name: str, kinds: Sequence[str]) -> Manifest:
        """The AppProject of an Application that allows these kinds."""
        project = ref(builder.API_VERSION, "AppProject", name, self.argocd.namespace)
        project["spec"] = {
            "sourceRepos": [self.url],
            "destinations": [{"server": builder.IN_CLUSTER, "namespace": name}],
            "namespaceResourceWhitelist": [{"group": "*", "kind": kind} for kind in kinds],
        }
        return project

    def _settings(self) -> settings.ArgoCD:
        return settings.ArgoCD(
            name="plain", namespace=self.argocd.namespace, repoURL=self.url, targetRevision="main", path="."
        )


def repository(folder: Path) -> UserRepository:
    """A repository whose bare remote is `<folder>/plain.git`."""
    return UserRepository.create(folder, folder / "plain.git")
