"""The security context of a Training's pods: what Pod Security `restricted` asks for, where the user says nothing."""

from typing import Any

from stowplan.library.builders.pods.training_pod import CONTAINER_LISTS, containers
from stowplan.library.manifest import Json

_NEEDS_ESCALATION = ("SYS_ADMIN", "CAP_SYS_ADMIN", "ALL")
"""Capabilities with which Kubernetes refuses `allowPrivilegeEscalation: false` (`ValidateSecurityContext`)."""


def filled(template: Json) -> Json:
    """Return a copy of a pod template with the fields of security contexts that are not given.

    A field that contradicts one that is given stays away: a container that asks for user 0 or for privileges gets them,
    and the checks of Pod Security say what the platform must allow for it.
    """
    spec = dict(template["spec"])
    for field in CONTAINER_LISTS:
        if spec.get(field):
            spec[field] = [_container(each) for each in spec[field]]
    spec["securityContext"] = _pod(spec)
    return {**template, "spec": spec}


def _pod(spec: Json) -> Json:
    own: Json = spec.get("securityContext") or {}
    given: dict[str, Any] = {"seccompProfile": {"type": "RuntimeDefault"}}
    contexts = [own, *(each.get("securityContext") or {} for each in containers(spec))]
    if all(context.get("runAsUser") != 0 for context in contexts):
        given["runAsNonRoot"] = True
    return {**given, **own}


def _container(container: Json) -> Json:
    own: Json = container.get("securityContext") or {}
    capabilities: Json = own.get("capabilities") or {}
    needs = own.get("privileged") or any(name in _NEEDS_ESCALATION for name in capabilities.get("add") or ())
    given = {} if needs else {"allowPrivilegeEscalation": False}
    context = {**given, **own, "capabilities": {"drop": ["ALL"], **capabilities}}
    return {**container, "securityContext": context}
