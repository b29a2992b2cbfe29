"""The environment variables of a DataCube's agent: options of both sides, and the user's variables in `executor.env`.

Kubernetes resolves references only to earlier variables, so this module sorts them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from stowplan.library.dialects.data_cube.options import may_be_missing
from stowplan.library.dialects.shared.source_uri import carries_credentials
from stowplan.library.manifest import ExternalReference, Json
from stowplan.library.values import variable_references
from stowplan.schema.agents.agent_config import NODE_ENV, POD_ENV, RUN_ENV
from stowplan.schema.agents.transfer_config import CA_ENV
from stowplan.schema.diagnostics import FieldPath, Finding, did_you_mean, finding
from stowplan.schema.kinds.data_cube import DataCube
from stowplan.schema.remotes.remote import option_env

PROVIDED = frozenset({"HOME", NODE_ENV, POD_ENV, RUN_ENV})
"""Variables that Stowplan sets for every agent. They come before all others, so values may refer to them."""

OF_THE_KUBELET = frozenset({"KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"})
"""Variables that the kubelet sets. Values may refer to them."""

_ALLOWED = re.compile(
    r"([A-Za-z0-9]+_)*PROXY|PROXY_[A-Z0-9_]+|([a-z0-9]+_)*proxy|HF_[A-Z0-9_]+|AWS_[A-Z0-9_]+|TZ|LANG|LANGUAGE|LC_[A-Z]+"
)
"""Names that `executor.env` may have: proxies and the parts of their addresses, settings of the Hub and of AWS, time
zone and locale. The list names what is allowed, since a list of dangerous names would never be complete: loaders,
interpreters, TLS libraries and Git all have variables that make them run code or trust servers."""

_FILES = frozenset({*CA_ENV, "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"})
"""Refused names, though `_ALLOWED` matches some: they make the agent trust or run the content of a file."""


class Variable(NamedTuple):
    """One environment variable: its name, its other fields, and its path in the document.

    `option` is the name of the option that the variable carries.
    """

    name: str
    body: Json
    path: FieldPath
    option: str = ""

    @property
    def value(self) -> str:
        """The literal value; the empty string for a variable without one."""
        return str(self.body.get("value") or "")


def of_model(model: DataCube) -> list[Variable]:
    """Return the variables for the options of source and sink, then those of `executor.env`, in document order."""
    found = []
    for side in ("source", "sink"):
        for index, each in enumerate(getattr(model.spec, side).options or ()):
            option = str(each.get("name", ""))
            body = {key: value for key, value in each.items() if key != "name"}
            found.append(Variable(option_env(option), body, ("spec", side, "options", index), option))
    executor = model.spec.executor
    for index, each in enumerate((executor.env if executor else None) or ()):
        body = {key: value for key, value in each.items() if key != "name"}
        found.append(Variable(str(each.get("name", "")), body, ("spec", "executor", "env", index)))
    return found


def findings(
    variables: Sequence[Variable],
    *,
    replaced: Mapping[str, str],
    certificates: bool,
    allowed: Sequence[str],
) -> list[Finding]:
    """Return findings about equal or forbidden names, secret values, and undefined or circular references.

    `replaced` are values by name that replace literal values. `certificates` says whether the cube has a `caBundle`.
    `allowed` is `policy.executorEnv` of the platform: names and `PREFIX*` patterns that `executor.env` may have too.
    """
    found = [*_clashes(variables, certificates=certificates), *_secrets(variables)]
    clashing = {each.path for each in found}
    found += (each for each in _refused(variables, allowed) if each.path not in clashing)
    if not any("$(" in each.value for each in variables):
        return found
    return [*found, *_dangling(variables, replaced)] or _circles(variables)


def _clashes(variables: Sequence[Variable], *, certificates: bool) -> Iterator[Finding]:
    first: dict[str, Variable] = {}
    taken = PROVIDED | OF_THE_KUBELET | (frozenset(CA_ENV) if certificates else frozenset())
    for each in variables:
        other = first.setdefault(each.name, each)
        if each.name in taken:
            message = f"The agent has a variable {each.name} of its own."
            yield finding("SP492", (*each.path, "name"), message, "Remove it.")
        elif other is not each and (each.option or other.option):
            message = f"The variable {each.name} would be {_word(each)} and {_word(other)}."
            if each.option == other.option:
                message = f"The option `{each.option}` occurs twice."
            yield finding("SP492", (*each.path, "name"), message, "Remove one of them.")
        elif other is not each:
            message = f"The variable {each.name} occurs twice; the last one counts."
            yield finding("SP436", (*each.path, "name"), message, "Remove the other one.")


def _word(variable: Variable) -> str:
    return f"the option `{variable.option}`" if variable.option else f"`{variable.name}` of `executor.env`"


def _refused(variables: Sequence[Variable], allowed: Sequence[str]) -> Iterator[Finding]:
    """Yield findings about variables in `executor.env` that are forbidden for the agent.

    `allowed` are the names and `PREFIX*` patterns of `policy.executorEnv`.
    """
    for each in variables:
        known = _ALLOWED.fullmatch(each.name) and each.name not in _FILES
        if each.option or known or any(_matches(each.name, pattern) for pattern in allowed):
            continue
        message = (
            f"The variable {each.name} may not be set for the agent; allowed are *_PROXY, PROXY_*, HF_*, AWS_*, TZ, "
            "LANG and LC_*."
        )
        hint = "Remove it, or list it in `policy.executorEnv` of the platform file."
        if each.name in CA_ENV:
            hint = "Give the certificates as `caBundle` of the remote side."
        yield finding("SP459", (*each.path, "name"), message, hint)


def _matches(name: str, pattern: str) -> bool:
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


def _secrets(variables: Sequence[Variable]) -> Iterator[Finding]:
    """Yield findings about literal secrets in `executor.env`. `options.findings` checks those in options."""
    for each in variables:
        value = each.value
        if each.option or not value:
            continue
        secret = variable_references.SECRET_NAME.search(each.name) and not variable_references.references(value)
        if secret or carries_credentials(value):
            message = f"{each.name} holds credentials; what is committed to Git is no secret any more."
            hint = "Take it from a Secret by `valueFrom.secretKeyRef`, and revoke these."
            yield finding("SP603", (*each.path, "value"), message, hint)


def _dangling(variables: Sequence[Variable], replaced: Mapping[str, str]) -> Iterator[Finding]:
    names = {each.name for each in variables}
    uncertain = {each.name for each in variables if may_be_missing(each.body)}
    for each in variables:
        for name in variable_references.references(each.value):
            if name in uncertain.intersection(variable_references.references(replaced.get(each.name, each.value))):
                message = f"$({name}) may be missing (`optional: true`), and would then stay in the value unreplaced."
                yield finding("SP493", (*each.path, "value"), message, f"Remove `optional` from {name}.")
            elif name not in names | PROVIDED | OF_THE_KUBELET:
                message = f"$({name}) refers to no variable, so it would stay in the value unreplaced."
                hint = f"{_meant(name, names)} Write $$({name}) for the string itself."
                yield finding("SP493", (*each.path, "value"), message, hint)


def _meant(name: str, names: set[str]) -> str:
    if option_env(name) in names:
        return f"The variable of this option is {option_env(name)}."
    return did_you_mean(name, names)


def _circles(variables: Sequence[Variable]) -> list[Finding]:
    last = {each.name: each for each in variables}
    circle = variable_references.circle({name: each.value for name, each in last.items()})
    if not circle:
        return []
    message = f"The variables refer to each other in a circle: {' → '.join(circle)}."
    return [finding("SP493", (*last[circle[0]].path, "value"), message, "Write one of them out.")]


def emitted(variables: Sequence[Variable], replaced: Mapping[str, str]) -> tuple[Json, ...]:
    """Return the variables of the container: the last one of each name, each after the variables that it refers to.

    `replaced` are literal values by name, which replace values or add variables. References must not be circular.
    """
    last = {each.name: each for each in variables}
    for name, value in replaced.items():
        own = last.get(name, Variable(name, {}, ()))
        last[name] = own._replace(body={"value": value})
    order = variable_references.ordered({name: each.value for name, each in last.items()})
    return tuple({"name": name, **last[name].body} for name in order or ())


def secret_keys(model: DataCube) -> Iterator[tuple[FieldPath, str, str]]:
    """Yield (path of the key's field, name of the Secret, key) for each reference to a Secret that is not optional."""
    bundles = {side: getattr(model.spec, side).ca_bundle for side in ("source", "sink")}
    places: list[tuple[FieldPath, Json]] = [
        *(((*each.path, "valueFrom"), each.body.get("valueFrom") or {}) for each in of_model(model)),
        *(
            (("spec", side, "caBundle"), {"secretKeyRef": each.secret_key_ref})
            for side, each in bundles.items()
            if each
        ),
    ]
    for path, source in places:
        reference = source.get("secretKeyRef") or {}
        if reference and not reference.get("optional"):
            yield (*path, "secretKeyRef", "key"), str(reference.get("name")), str(reference.get("key"))


def externals(variables: Sequence[Variable], namespace: str) -> set[ExternalReference]:
    """Return references to the Secrets, with their required keys, and the ConfigMaps that the variables refer to."""
    keys: dict[tuple[str, str], set[str]] = {}
    for source in [given for each in variables if (given := each.body.get("valueFrom"))]:
        for field, kind in (("secretKeyRef", "Secret"), ("configMapKeyRef", "ConfigMap")):
            reference = source.get(field) or {}
            if reference.get("name"):
                wanted = keys.setdefault((kind, str(reference["name"])), set())
                wanted |= set() if reference.get("optional") else {str(reference.get("key"))}
    return {
        ExternalReference(kind, namespace, name, tuple(sorted(wanted)) if kind == "Secret" else ())
        for (kind, name), wanted in keys.items()
    }
