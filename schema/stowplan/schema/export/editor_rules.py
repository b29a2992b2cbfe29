"""Rules that only editors apply: patterns of strings, and fields that a document needs.

The models and the CRDs do not have them. A CRD must accept whatever the API server of the old system accepted, and the
compiler explains these mistakes better than a pattern can. A rule here is never stricter than the compiler: the tests
hold all valid cases against it.
"""

from collections.abc import Mapping

from stowplan.schema.export.plain_schema import Schema
from stowplan.schema.juicefs.options import STORAGES
from stowplan.schema.meta import MOST_NODES

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_WORD = "[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?"


def _pattern(pattern: str, message: str) -> Schema:
    """Return the rule for a string. Editors of the VS Code family show the message in place of the pattern."""
    return {"pattern": f"^({pattern})$", "patternErrorMessage": message}


def _cron() -> str:
    """Return the pattern of a cron expression, as the compiler reads it: five fields, a word, or `@every`."""
    months, days = "[A-Za-z]{3}", "[A-Za-z]{3}"
    numbers = ("0*[0-5]?[0-9]", "0*(1?[0-9]|2[0-3])", "0*([1-9]|[12][0-9]|3[01])", f"0*([1-9]|1[0-2])|{months}")
    fields = []
    for value in (*numbers, f"0*[0-6]|{days}"):
        part = f"(\\*|\\?|{value})(-({value}))?(/[0-9]+)?"
        fields.append(f"{part}(,{part})*")
    every = "@every ([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+"
    words = "@(yearly|annually|monthly|weekly|daily|midnight|hourly)"
    blanks = "\\s+".join(fields)
    return f"\\s*{blanks}\\s*|{words}|{every}"


_SUBDOMAIN = _pattern(
    f"{_LABEL}(\\.{_LABEL})*", "A name has lower-case letters, digits, - and ., with a letter or digit at both ends."
)
_NAMESPACE = _pattern(_LABEL, "A namespace has lower-case letters, digits and -, with a letter or digit at both ends.")
_SERVICE = _pattern(
    "[a-z]([-a-z0-9]*[a-z0-9])?",
    "The name of a SampleSet has lower-case letters, digits and -, begins with a letter and does not end in -.",
)
_SCHEDULE = _pattern(_cron(), "A schedule is a cron expression with five fields, such as 0 3 * * *, or a word: @daily.")
_URI = _pattern(
    f"({'|'.join(sorted(STORAGES - {'file'}))})://(?!\\S*://)/*[^/\\s]\\S*",
    "The address of a storage is NAME://BUCKET[.ENDPOINT][/PREFIX], such as s3://bucket.s3.example.com/train/.",
)
_MOUNT_PATH = _pattern("/+[^/:][^:]*", "A mount path begins with /, is not the root, and holds no colon.")


def _needs(*fields: str) -> Schema:
    return {"required": list(fields)}


def _where(field: str, value: object) -> Schema:
    return {"required": [field], "properties": {field: {"const": value}}}


def _below(field: str, rule: Schema) -> Schema:
    """Return a rule for a mapping that needs `field`, and `rule` for the field's value."""
    return {"required": [field], "properties": {field: {"type": "object"} | rule}}


_LABELS: Schema = {
    "propertyNames": _pattern(f"({_LABEL}(\\.{_LABEL})*/)?{_WORD}", "A label is named as in app or example.com/app.")
}
_LABEL_VALUES: Schema = _LABELS | {
    "additionalProperties": {
        "type": "string",
        **_pattern(
            f"({_WORD})?", "A label has at most 63 letters, digits, -, _ and ., with a letter or digit at both ends."
        ),
    }
}

_COMMON: Mapping[str, Schema] = {
    "metadata.name": _SUBDOMAIN,
    "metadata.namespace": _NAMESPACE,
    "metadata.labels": _LABEL_VALUES,
    "metadata.annotations": _LABELS,
}

_POD: Schema = _below("template", _below("spec", _below("containers", {"type": "array", "minItems": 1})))
_ROLE: Schema = {"if": {"required": ["replicas"], "properties": {"replicas": {"minimum": 1}}}, "then": _POD}
_ONE: Schema = {"minProperties": 1, "maxProperties": 1}
_PODS: Schema = {"minimum": 1, "maximum": MOST_NODES}

RULES: Mapping[str, Mapping[str, Schema]] = {
    "SampleSet": {
        **_COMMON,
        "metadata.name": _SERVICE,
        "spec": {
            "allOf": [
                {
                    "if": _below("csi", _where("driver", "pvc")),
                    "else": {"allOf": [_needs("partitions"), _below("secretRef", _needs("name"))]},
                },
                {"if": _where("noSync", value=True), "else": _below("source", _needs("uri"))},
            ]
        },
        "spec.source.uri": _URI,
        "spec.secretRef.name": _SUBDOMAIN,
        "spec.source.secretRef.name": _SUBDOMAIN,
        "spec.cache.levels[].cacheSize": {"minimum": 0},
        "spec.cache.levels[].path": _pattern("/.*", "A directory of the node begins with /."),
    },
    "Dataset": {
        **_COMMON,
        "spec": {
            "if": _below("volume", _needs("claim")),
            "then": {"not": _needs("cache")},
        },
        "spec.source": {"oneOf": [_needs(kind) for kind in ("s3", "huggingface", "git", "storage")]},
        "spec.volume": _ONE,
        "spec.volume.claim": {"oneOf": [_needs("name"), _needs("template")]},
        "spec.source.storage.uri": _URI,
        **{f"spec.source.{kind}.secretRef.name": _SUBDOMAIN for kind in ("s3", "huggingface", "git", "storage")},
        "spec.volume.juicefs.secretRef.name": _SUBDOMAIN,
        "spec.cache.tiers[].path": _pattern("/.*", "A directory of the node begins with /."),
        "spec.refresh.schedule": _SCHEDULE,
    },
    "DatasetTask": {
        **_COMMON,
        "spec": {"oneOf": [_needs(field) for field in ("sync", "warmup", "evict", "remove", "copy")]},
        "spec.datasetRef.name": _SUBDOMAIN,
        "spec.copy.to": _ONE,
        "spec.copy.to.claim.name": _SUBDOMAIN,
        **{f"spec.copy.to.{kind}.secretRef.name": _SUBDOMAIN for kind in ("s3", "huggingface", "git")},
        "spec.schedule": _SCHEDULE,
    },
    "SampleJob": {
        **_COMMON,
        "spec": {
            "allOf": [
                _needs("type"),
                _below("sampleSetRef", _needs("name")),
                {"if": _where("type", "sync"), "then": _below("syncOptions", _needs("source"))},
                {"if": _where("type", "rmr"), "then": _below("rmrOptions", _needs("paths"))},
            ]
        },
        "spec.schedule": _SCHEDULE,
        "spec.sampleSetRef.name": _SUBDOMAIN,
        "spec.secretRef.name": _SUBDOMAIN,
        "spec.syncOptions.source": _URI,
        "spec.syncOptions.threads": {"minimum": 1},
    },
    "DataCube": {
        **_COMMON,
        "spec": {
            "allOf": [
                {
                    "if": {"properties": {"source": _where("type", "pvc")}},
                    "then": {"properties": {"sink": {"properties": {"type": {"not": {"const": "pvc"}}}}}},
                    "else": {"properties": {"sink": {"properties": {"type": {"const": "pvc"}}}}},
                }
            ]
        },
        **{
            f"spec.{side}": {"if": _where("type", "pvc"), "then": _below("pvc", _needs("name"))}
            for side in ("source", "sink")
        },
        **{
            f"spec.{side}.pvc.subPath": _pattern("([^/].*)?", "A path in a claim does not begin with /.")
            for side in ("source", "sink")
        },
        "spec.schedule": _SCHEDULE,
    },
    "PaddleJob": {
        **_COMMON,
        **dict.fromkeys(("spec.ps", "spec.worker", "spec.heter"), _ROLE),
        **{f"spec.{role}.replicas": {"minimum": 0, "maximum": MOST_NODES} for role in ("ps", "worker", "heter")},
        "spec.sampleSetRef": _needs("name"),
        "spec.sampleSetRef.name": _SUBDOMAIN,
        "spec.sampleSetRef.mountPath": _MOUNT_PATH,
        "spec.schedulingPolicy.minAvailable": {"minimum": 1},
        "spec.withGloo": {"enum": [0, 1, 2]},
    },
    "TrainingJob": {
        **_COMMON,
        **{f"spec.{field}": {"minimum": 0} for field in ("ports_num", "trainer_ports_num")},
        **{f"spec.{role}.min-instance": _PODS for role in ("trainer", "pserver")},
        "spec.frame_work": _needs("type"),
        "spec.frame_work.type": {"enum": ["local", "multi", "nccl2"]},
        "spec.trainer.grace_period_seconds": {"minimum": 0},
    },
    "MxJob": {
        **_COMMON,
        "spec": _needs("jobMode"),
        "spec.jobMode": {"enum": ["local", "dist"]},
        "spec.replicaSpecs[]": _POD,
        "spec.replicaSpecs[].replicas": _PODS,
        "spec.replicaSpecs[].mxReplicaType": {"enum": ["SCHEDULER", "SERVER", "WORKER"]},
    },
}
"""The rules of each kind, by the path of the field. `[]` stands for the items of a list."""


def with_rules(kind: str, schema: Schema) -> Schema:
    """Add the rules of a kind, if it has any, to its schema, which is changed, and return it. Raises `KeyError` for an unknown field."""
    for path, rule in RULES.get(kind, {}).items():
        node = schema
        for name in path.replace("[]", ".[]").split("."):
            node = node["items"] if name == "[]" else node["properties"][name]
        if rule.keys() & node.keys():
            node.setdefault("allOf", []).append(rule)
        else:
            node.update(rule)
    return schema
