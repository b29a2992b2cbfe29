"""Custom resources of a repository in the cluster, read with the official client."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from kubernetes import client, config
from kubernetes.client.exceptions import ApiException
from kubernetes.config.config_exception import ConfigException
from urllib3 import Retry
from urllib3.exceptions import HTTPError

from stowplan.compiler.pins.trust import is_loopback
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.meta import SpecId

SECONDS = 15
"""Seconds to wait for an answer of the API server of Kubernetes."""

_RETRIES = Retry(3, connect=False, read=False, other=False, raise_on_status=False)
"""An API server that is busy, or that was told of a kind a moment ago, answers 429 and says when to ask again.

kubectl asks again too. By default the client would also try a refused connection three times, with pauses.
"""


class KubeconfigError(Exception):
    """The kubeconfig cannot be used; the message of the exception is a sentence that says why."""


class ClusterError(Exception):
    """The cluster cannot be read; the message of the exception is a sentence that says why."""


@dataclass(frozen=True, slots=True)
class ClusterClient:
    """A cluster: the client `api` for one context of a kubeconfig. `context` is its name, empty for the current one."""

    api: Any
    context: str = ""

    @classmethod
    def connect(cls, context: str | None, kubeconfig: str | None) -> "ClusterClient":
        """Make a client by kubectl's rules, for a context's name and a kubeconfig's path; None is kubectl's default.

        Raises KubeconfigError if the kubeconfig is unreadable or lacks the context, or if its token would be sent by
        plain http to another machine.
        """
        configuration = client.Configuration(retries=_RETRIES)
        try:
            connect: Any = config.new_client_from_config  # untyped
            api = connect(config_file=kubeconfig, context=context, client_configuration=configuration)
        except (ConfigException, OSError, TypeError) as error:
            raise KubeconfigError(f"The kubeconfig cannot be used: {error}".rstrip(".") + ".") from None
        server = urlsplit(api.configuration.host)
        if api.configuration.api_key and server.scheme == "http" and not is_loopback(server.hostname or ""):
            message = f"its token would go to {server.netloc} by plain http, where everybody on the way can read it"
            raise KubeconfigError(f"The kubeconfig cannot be used: {message}. Name the server with https.")
        return cls(api, context or "")

    def custom_resources(self, specs: Iterable[SpecId]) -> Mapping[SpecId, dict[str, Any]]:
        """Return the bodies of the specs' custom resources by spec, without the specs that the cluster does not have.

        Sends one list request for each kind and namespace. Raises ClusterError if the cluster cannot be read.
        """
        wanted = set(specs)
        found: dict[SpecId, dict[str, Any]] = {}
        for kind, namespace in sorted({(each.kind, each.namespace) for each in wanted}):
            for body in self._listed(kind, namespace):
                identity = SpecId(kind, namespace, body["metadata"]["name"])
                if identity in wanted:
                    found[identity] = body
        return found

    def _listed(self, kind: str, namespace: str) -> list[dict[str, Any]]:
        group, _, version = KINDS[kind].api_version.partition("/")
        objects = client.CustomObjectsApi(self.api)
        try:
            answer: Any = objects.list_namespaced_custom_object(
                group, version, namespace, KINDS[kind].plural, _request_timeout=SECONDS
            )
        except ApiException as error:
            if error.status == 404:
                # The CRD is not installed, so no objects exist.
                return []
            raise ClusterError(f"The cluster refuses to list {kind} in {namespace}: {error.reason}.") from None
        except (HTTPError, OSError) as error:
            raise ClusterError(self._unreachable(error)) from None
        items: list[dict[str, Any]] = answer["items"]
        return items

    def _unreachable(self, error: Exception) -> str:
        """Return the sentence about an error of urllib3 or of the operating system."""
        context = f'the context "{self.context}"' if self.context else "the current context"
        cause = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        # urllib3 begins with the repr of the failed object, which does not help people.
        reason = (cause.partition(": ")[2] or cause).rstrip(".")
        return f"The API server {self.api.configuration.host} of {context} cannot be reached: {reason}."
