"""The token of a ServiceAccount as a volume, for pods in which only one container may have it."""

from stowplan.library.manifest import Json

_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
_SECONDS = 3607
"""Lifetime of the token in seconds: the default of Kubernetes for tokens in pods."""


def volume(name: str) -> Json:
    """Return a volume with the files of a ServiceAccount that its clients need: token and certificate authorities."""
    return {
        "name": name,
        "projected": {
            "sources": [
                {"serviceAccountToken": {"expirationSeconds": _SECONDS, "path": "token"}},
                {"configMap": {"items": [{"key": "ca.crt", "path": "ca.crt"}], "name": "kube-root-ca.crt"}},
            ]
        },
    }


def mount(name: str) -> Json:
    """Return the mount of the volume `name` where clients of Kubernetes look for these files."""
    return {"mountPath": _PATH, "name": name, "readOnly": True}
