"""The ServiceAccounts of compiled agents, each with the custom resource that it reports on."""

from collections.abc import Iterable
from dataclasses import dataclass

from tests.cluster.client import Manifest, ref

GROUP_VERSION = "batch.paddlepaddle.org/v1alpha1"


@dataclass(frozen=True)
class Account:
    """A ServiceAccount by namespace and name, the resource it reports on, and the rules of its Role."""

    namespace: str
    name: str
    resource: Manifest
    """As it was compiled."""
    rules: list[Manifest]

    @property
    def home(self) -> str:
        """The namespace of the resource."""
        home: str = self.resource["metadata"]["namespace"]
        return home

    @property
    def target(self) -> Manifest:
        """The least that names the resource."""
        return ref(self.resource["apiVersion"], self.resource["kind"], self.resource["metadata"]["name"], self.home)


def accounts(manifests: Iterable[Manifest]) -> dict[str, Account]:
    """By `<namespace>/<name>`: whoever a RoleBinding gives a Role. A reporter has no resource of its own."""
    by_name = {(each["kind"], each["metadata"].get("namespace"), each["metadata"]["name"]): each for each in manifests}
    found: dict[str, Account] = {}
    for (kind, home, _), binding in by_name.items():
        labels = binding["metadata"].get("labels") or {}
        if kind == "RoleBinding" and "stowplan.dev/kind" in labels:
            resource = by_name[labels["stowplan.dev/kind"], home, labels["stowplan.dev/name"]]
            rules = by_name["Role", home, binding["roleRef"]["name"]]["rules"]
            for subject in binding["subjects"]:
                place, name = subject["namespace"], subject["name"]
                found[f"{place}/{name}"] = Account(place, name, resource, rules)
    return found
