"""Does Argo CD know each annotation and option, and is the object safe with it?"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import Object, Objects
from stowplan.compiler.checks.objects.sync_phases import HOOK
from stowplan.compiler.kubernetes.fields import mapping, parts, texts
from stowplan.library.manifest import Json
from stowplan.library.values import labels
from stowplan.schema.diagnostics import FieldPath, did_you_mean

_HOOK_DELETE_POLICY = "argocd.argoproj.io/hook-delete-policy"
_ANNOTATIONS: FieldPath = ("metadata", "annotations")

_LINK = "link.argocd.argoproj.io"
"""Prefix of annotations whose value Argo CD shows as a link: a URL, or a title and a URL with `|` between them.

Older releases show any URL (CVE-2022-31035, GHSA-h98r-wv3h-fr38): `javascript:` would run with the rights of whoever
clicks on it.
"""
_WEB_ADDRESS = re.compile(r"(?:[^|]*\|)?\s*https?://[^\s|]+\s*", re.IGNORECASE)
_RECREATING = ("Force=true", "Replace=true")

_BOTH = ("true", "false")
_HOLD = ("false", "confirm", "true")
_OBJECT_OPTIONS = {
    "ClientSideApplyMigration": _BOTH,
    "Delete": _HOLD,
    "Force": _BOTH,
    "Prune": _HOLD,
    "PruneLast": _BOTH,
    "Replace": _BOTH,
    "ServerSideApply": _BOTH,
    "SkipDryRunOnMissingResource": _BOTH,
    "Validate": _BOTH,
}
_APPLICATION_OPTIONS = {
    **_OBJECT_OPTIONS,
    "ApplyOutOfSyncOnly": _BOTH,
    "CreateNamespace": _BOTH,
    "FailOnSharedResource": _BOTH,
    "PrunePropagationPolicy": ("foreground", "background", "orphan"),
    "RespectIgnoreDifferences": _BOTH,
}


def _words(known: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(f"{name}={value}" for name, values in known.items() for value in values)


_KNOWN = {
    HOOK: ("PreSync", "Sync", "PostSync", "SyncFail", "Skip", "PreDelete", "PostDelete"),
    _HOOK_DELETE_POLICY: ("BeforeHookCreation", "HookSucceeded", "HookFailed"),
    labels.SYNC_OPTIONS: _words(_OBJECT_OPTIONS),
    labels.COMPARE_OPTIONS: (
        "IgnoreExtraneous",
        *_words({"IncludeMutationWebhook": _BOTH, "ServerSideDiff": _BOTH}),
    ),
}
"""Values that Argo CD knows (2.14 to 3.5), by annotation. It ignores any other value silently."""
_OURS = frozenset({*_KNOWN, labels.SYNC_WAVE})


def check(objects: Objects) -> list[ObjectFinding]:
    """Return findings about annotations for Argo CD that are unknown or unsafe, and `generateName` without a hook.

    Checked are waves, hooks, delete policies, sync and compare options, and links.
    """
    linked = _LINK.encode() in objects.json
    found: list[ObjectFinding] = [each for obj in objects for each in _links(obj)] if linked else []
    for obj in objects:
        if obj.spec:
            found += _of_a_spec(obj)
        for key, given in obj.annotations.items():
            if key in _OURS and given is not None and not _is_known(key, given):
                found += _annotation(obj, key, given)
    found += [each for obj in objects.of_kind("Application") for each in _application(obj)]
    return found + [_generated(obj) for obj in objects if "generateName" in obj.metadata and not _is_hook(obj)]


def _links(obj: Object) -> Iterator[ObjectFinding]:
    """Yield findings about links in the annotations of the object and of its pods, which Argo CD shows too.

    Source: `populateNodeInfo` of Argo CD.
    """
    places = [(_ANNOTATIONS, obj.annotations)]
    places += [((*pod.path, *_ANNOTATIONS), mapping(pod.metadata, "annotations")) for pod in obj.pods]
    for path, annotations in places:
        for key, given in annotations.items():
            if key.startswith(_LINK) and not _WEB_ADDRESS.fullmatch(str(given)):
                message = "Argo CD would show a link to something else than a web address."
                hint = "Give a URL that begins with https:// or http://, with `Title | ` before it if you like."
                yield _at_annotation(obj, "SP609", (*path, key), message, hint)


def _of_a_spec(obj: Object) -> Iterator[ObjectFinding]:
    """Yield findings about a user's annotations that would let Argo CD delete an object of a spec."""
    kind = obj.kind[1]
    for option in obj.sync_options:
        if option in _RECREATING and _is_custom_resource(obj):
            path = (*_ANNOTATIONS, labels.SYNC_OPTIONS)
            message = f"{option} would delete or overwrite the {kind} and its status at a sync."
            yield _at_annotation(obj, "SP610", path, message, f"Remove {option}.")
    for key in (HOOK, _HOOK_DELETE_POLICY):
        if key in obj.annotations:
            message = f"Argo CD deletes a hook and creates it again; the {kind} must stay."
            yield _at_annotation(obj, "SP610", (*_ANNOTATIONS, key), message, "Remove the annotation.")


def _at_annotation(obj: Object, code: str, path: FieldPath, message: str, hint: str) -> ObjectFinding:
    """Return a finding at `path`, an annotation.

    A custom resource has the same annotations as its spec, so its finding is located at the annotation in the spec.
    """
    found = about(obj, code, path, message, hint)
    return replace(found, edits=(path,)) if _is_custom_resource(obj) else found


def _is_custom_resource(obj: Object) -> bool:
    return obj.spec is not None and obj.kind[1] == obj.spec.kind


@lru_cache(maxsize=1024)
def _is_known(key: str, given: str) -> bool:
    if key == labels.SYNC_WAVE:
        return given.removeprefix("-").removeprefix("+").isdecimal()
    return all(value in _KNOWN[key] for value in parts(given))


def _annotation(obj: Object, key: str, given: str) -> Iterator[ObjectFinding]:
    path = (*_ANNOTATIONS, key)
    if key == labels.SYNC_WAVE:
        message = f'Found the sync wave "{given}"; allowed is a whole number in quotes.'
        yield about(obj, "SP520", path, message, 'Write it as "-1", "0" or "1".')
        return
    for value in parts(given):
        if value not in _KNOWN[key]:
            yield _unknown(obj, path, value, _KNOWN[key])


def _is_hook(obj: Object) -> bool:
    return bool(obj.annotations.get(HOOK))


def _generated(obj: Object) -> ObjectFinding:
    message = "The object has generateName, so each sync would create a new object."
    return about(obj, "SP528", ("metadata", "generateName"), message, "Give it a name instead.")


def _application(obj: Object) -> Iterator[ObjectFinding]:
    known = _words(_APPLICATION_OPTIONS)
    for index, value in enumerate(application_options(obj.body)):
        if value not in known:
            yield _unknown(obj, ("spec", "syncPolicy", "syncOptions", index), value, known)


def application_options(application: Json) -> list[str]:
    """Return the sync options in the spec of an Application, such as `Prune=confirm`; empty if there are none."""
    return texts(mapping(application, "spec", "syncPolicy").get("syncOptions"))


def _unknown(obj: Object, path: FieldPath, value: str, known: tuple[str, ...]) -> ObjectFinding:
    message = f'Argo CD does not know "{value}" and would ignore it.'
    return about(obj, "SP521", path, message, did_you_mean(value, known))
