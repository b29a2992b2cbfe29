"""The options of a DataCube's remote side, as fields of the place that a Dataset or a DatasetTask names."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stowplan.compiler.migrate.native.plan import Move, Omit, Step, Write
from stowplan.schema.diagnostics import FieldPath, Finding, finding
from stowplan.schema.kinds.data_cube import DataReference
from stowplan.schema.s3_uri import S3Uri


@dataclass(frozen=True, slots=True)
class _Place:
    """The fields of a place by option, the keys of its Secret by option, and the fields that a block of settings has.

    `defaults` are fields whose default in a DataCube is another one.
    """

    fields: Mapping[str, str]
    keys: Mapping[str, str]
    block: tuple[str, ...] = ()
    defaults: tuple[tuple[str, str], ...] = ()


_TOKEN = {"token": "token"}
_PLACES = {
    "s3": _Place(
        {"s3-uri": "uri", "s3-endpoint": "endpoint", "s3-region": "region"},
        {"s3-access-key-id": "access-key", "s3-secret-access-key": "secret-key", "s3-session-token": "session-token"},
        ("anonymous", "acceptUnverified", "include", "exclude", "pathStyle"),
    ),
    "huggingface": _Place(
        {
            "repo": "repo",
            "repo-type": "type",
            "revision": "revision",
            "path-in-repo": "path",
            "commit-message": "message",
        },
        _TOKEN,
        ("include", "exclude"),
        (("type", "model"),),
    ),
    "git": _Place({"url": "url", "ref": "ref"}, _TOKEN, ("lfs", "submodules")),
}

_HINT = "Leave the DataCube as it is."


def steps(remote: DataReference, side: FieldPath, new: FieldPath) -> Iterator[Step]:
    """Yield the steps from `remote`, at `side` such as `spec.source`, to `new` such as `spec.source.s3`."""
    place = _PLACES[remote.type]
    secret = (*new, "secretRef", "name")
    yield Omit((*side, "type"))
    named = False
    for index, option in enumerate(remote.options or ()):
        at, name = (*side, "options", index), str(option.get("name"))
        yield Omit((*at, "name"))
        if name in place.fields:
            yield Move((*at, "value"), (*new, place.fields[name]))
        elif name in place.keys:
            if not named:
                yield Move((*at, "valueFrom", "secretKeyRef", "name"), secret)
            named = True
            yield Omit((*at, "valueFrom"))
    if _setting(remote, "kind") == "prefix":
        yield Omit((*side, "s3", "kind"))
    if _setting(remote, "depth") == 1:
        yield Omit((*side, "git", "depth"))
    given = {place.fields.get(str(option.get("name"))) for option in remote.options or ()}
    yield from (Write((*new, key), value) for key, value in place.defaults if key not in given)
    yield from (Move((*side, remote.type, key), (*new, key)) for key in place.block)


def refused(remote: DataReference, side: FieldPath) -> Iterator[Finding]:
    """Yield findings about options that have no field, and about Secrets with other keys."""
    place, names, secrets = _PLACES[remote.type], set[str](), set[str]()
    for index, option in enumerate(remote.options or ()):
        at, name = (*side, "options", index), str(option.get("name"))
        reference = (option.get("valueFrom") or {}).get("secretKeyRef") or {}
        if name in names or name not in {*place.fields, *place.keys}:
            why = "is given twice" if name in names else "has no field"
            yield finding("SP427", (*at, "name"), f"The option `{name}` {why}.", _HINT)
        elif name in place.fields and (not option.get("value") or "$" in str(option["value"])):
            message = f"The value of `{name}` is not in the spec, but the field `{place.fields[name]}` holds its value."
            yield finding("SP427", (*at, "valueFrom"), message, "Write it as `value`, if it is no secret.")
        elif name in place.keys:
            secrets.add(str(reference.get("name")))
            if reference.get("key") != place.keys[name] or reference.get("optional"):
                message = f"`{name}` must be the key `{place.keys[name]}` of a Secret, and is not."
                hint = "Create a Secret with these keys, or leave the DataCube as it is."
                yield finding("SP427", (*at, "valueFrom"), message, hint)
        elif name == "s3-uri" and not _is_prefix(remote, str(option["value"])):
            message = f'"{option["value"]}" may be one object; a native kind takes it for a prefix.'
            yield finding("SP427", (*at, "value"), message, "Write a `/` at its end if it is a prefix.")
        names.add(name)
    if len(secrets) > 1:
        message = f"The keys come from several Secrets: {', '.join(sorted(secrets))}."
        yield finding("SP427", (*side, "options"), message, "Put them into one.")


def _is_prefix(remote: DataReference, uri: str) -> bool:
    parsed = S3Uri.parse(uri)
    return _setting(remote, "kind") == "prefix" or (parsed is not None and parsed.is_prefix)


def _setting(remote: DataReference, name: str) -> Any:
    """Return a field of the block of settings for the type of the side; None if it is not given."""
    return getattr(getattr(remote, remote.type, None), name, None)
