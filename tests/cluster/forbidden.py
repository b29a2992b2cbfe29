"""Requests that no agent may make, as method and URL path."""

from tests.cluster.accounts import GROUP_VERSION, Account
from tests.cluster.client import Client

ELSEWHERE = ("default", "kube-system")
_RBAC = "/apis/rbac.authorization.k8s.io/v1"
CLUSTER_WIDE = (
    ("GET", "/api/v1/namespaces"),
    ("POST", "/api/v1/namespaces"),
    ("GET", "/api/v1/nodes"),
    ("GET", "/api/v1/nodes/node-0"),
    ("GET", "/api/v1/nodes/node-0/proxy/pods"),
    ("PATCH", "/api/v1/nodes/node-0"),
    ("GET", "/api/v1/persistentvolumes"),
    ("GET", "/api/v1/persistentvolumes/rbac-home.data"),
    ("PATCH", "/api/v1/persistentvolumes/rbac-home.data"),
    ("DELETE", "/api/v1/persistentvolumes/rbac-home.data"),
    ("GET", "/api/v1/pods"),
    ("GET", "/api/v1/secrets"),
    ("GET", "/apis/storage.k8s.io/v1/storageclasses"),
    ("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"),
    ("PATCH", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/samplesets.batch.paddlepaddle.org"),
    ("PATCH", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/datacubes.tensorstack.dev"),
    ("GET", f"{_RBAC}/clusterroles"),
    ("POST", f"{_RBAC}/clusterroles"),
    ("POST", f"{_RBAC}/clusterrolebindings"),
    ("POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"),
    ("POST", "/apis/authentication.k8s.io/v1/tokenreviews"),
    ("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews"),
    ("POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests"),
    ("GET", "/metrics"),
    ("GET", "/debug/pprof/"),
)


def forbidden(account: Account, client: Client, others: list[str]) -> list[tuple[str, str]]:
    """All of them for one account, each once. `others` are namespaces with resources of the same names."""
    own = client.path(account.target)
    kinds, name = own.rsplit("/", 1)
    requests = [
        *_on_own_resource(own),
        *_on_other_resources(kinds, name),
        *(("GET", own.replace(f"/{account.home}/", f"/{other}/")) for other in others),
        *(("PATCH", own.replace(f"/{account.home}/", f"/{other}/") + "/status") for other in others),
        *(request for namespace in (account.home, account.namespace) for request in inside(namespace, account.name)),
        *(request for namespace in (*others, *ELSEWHERE) for request in reading(namespace)),
        *CLUSTER_WIDE,
    ]
    return list(dict.fromkeys(requests))


def _on_own_resource(own: str) -> list[tuple[str, str]]:
    """Its spec, its metadata and the resource as a whole; of its status only apply is allowed."""
    return [
        ("PATCH", own),
        ("PUT", own),
        ("DELETE", own),
        ("PUT", f"{own}/status"),
        ("DELETE", f"{own}/status"),
        ("GET", f"{own}/scale"),
    ]


def _on_other_resources(kinds: str, name: str) -> list[tuple[str, str]]:
    scope, plural = kinds.rsplit("/", 1)
    every = f"{scope.partition('/namespaces/')[0]}/{plural}"
    other_kind = f"{scope}/{'samplejobs' if plural == 'samplesets' else 'samplesets'}"
    stranger = f"{kinds}/{'data' if name == 'other' else 'other'}"
    return [
        ("POST", kinds),
        ("DELETE", kinds),
        ("GET", kinds),
        ("GET", f"{kinds}?watch=true"),
        ("GET", f"{kinds}?fieldSelector=metadata.name%3D{name}"),
        ("GET", f"{kinds}?watch=true&fieldSelector=metadata.name%3D{name}"),
        ("GET", every),
        ("GET", f"{every}?watch=true"),
        ("GET", stranger),
        ("GET", f"{stranger}/status"),
        ("PATCH", f"{stranger}/status"),
        ("PATCH", stranger),
        ("GET", other_kind),
        ("GET", f"{other_kind}/{name}"),
        ("PATCH", f"{other_kind}/{name}/status"),
    ]


def reading(namespace: str) -> list[tuple[str, str]]:
    """What may not even be seen in a namespace."""
    core, crds = f"/api/v1/namespaces/{namespace}", f"/apis/{GROUP_VERSION}/namespaces/{namespace}"
    return [
        ("GET", f"{core}/{plural}")
        for plural in (
            "configmaps",
            "events",
            "persistentvolumeclaims",
            "pods",
            "secrets",
            "serviceaccounts",
            "services",
        )
    ] + [
        ("GET", f"{core}/secrets/volume"),
        ("GET", f"{crds}/samplesets"),
        ("GET", f"{crds}/samplejobs"),
        ("GET", f"/apis/tensorstack.dev/v1beta1/namespaces/{namespace}/datacubes"),
        ("GET", f"/apis/batch/v1/namespaces/{namespace}/jobs"),
    ]


def inside(namespace: str, account: str) -> list[tuple[str, str]]:
    """Where the agent runs and where its resource is."""
    core, apps, batch = (f"/{api}/namespaces/{namespace}" for api in ("api/v1", "apis/apps/v1", "apis/batch/v1"))
    rbac = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
    return [
        *reading(namespace),
        ("POST", f"{core}/configmaps"),
        ("POST", f"{core}/events"),
        ("POST", f"{core}/pods"),
        ("POST", f"{core}/pods/data-runtime-0/eviction"),
        ("POST", f"{core}/pods/data-runtime-0/exec"),
        ("POST", f"{core}/secrets"),
        ("POST", f"{core}/serviceaccounts"),
        ("POST", f"{core}/serviceaccounts/default/token"),
        ("POST", f"{core}/serviceaccounts/{account}/token"),
        ("GET", f"{core}/persistentvolumeclaims/data"),
        ("GET", f"{core}/pods/data-runtime-0"),
        ("GET", f"{core}/pods/data-runtime-0/log"),
        ("GET", f"{core}/pods/data-runtime-0/proxy"),
        ("GET", f"{core}/services/data-runtime-service/proxy"),
        ("GET", f"{core}/serviceaccounts/{account}"),
        ("PATCH", f"{core}/pods/data-runtime-0"),
        ("PATCH", f"{core}/persistentvolumeclaims/data"),
        ("DELETE", f"{core}/pods"),
        ("DELETE", f"{core}/persistentvolumeclaims/data"),
        ("GET", f"{apps}/statefulsets/data-runtime"),
        ("PATCH", f"{apps}/statefulsets/data-runtime/scale"),
        ("POST", f"{batch}/jobs"),
        ("DELETE", f"{batch}/jobs"),
        ("GET", f"{batch}/cronjobs"),
        ("GET", f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"),
        ("GET", f"{rbac}/roles"),
        ("POST", f"{rbac}/roles"),
        ("POST", f"{rbac}/rolebindings"),
        ("PATCH", f"{rbac}/roles/{account}"),
        ("PATCH", f"{rbac}/rolebindings/{account}"),
    ]
