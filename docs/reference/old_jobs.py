"""Variables of the job kinds of other operators: what Stowplan adds to each role of some compiled examples."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from docs.reference import markdown

_OUT = Path(__file__).parents[2] / "out"


class _Example(NamedTuple):
    """A job in an example of the repository, and what it shows."""

    kind: str
    shows: str
    example: str
    name: str


_EXAMPLES = (
    _Example("PaddleJob", "collective", "resnet-gpu", "resnet"),
    _Example("PaddleJob", "parameter servers, with Gloo", "wide-and-deep", "wide-and-deep"),
    _Example("PaddleJob", "heterogeneous", "kitchen-sink", "cookbook"),
    _Example("PaddleJob", "elastic", "kitchen-sink", "leftovers"),
    _Example("TrainingJob", "fault-tolerant", "trainingjob", "word2vec"),
    _Example("TrainingJob", "elastic", "elastic-kueue", "word2vec"),
    _Example("MxJob", "distributed", "mxnet", "cifar-dist"),
)


def sections() -> Iterator[str]:
    """Yield a section for each example, with a row for each value of a variable."""
    for each in _EXAMPLES:
        roles = variables(each.example, each.kind, each.name)
        yield ""
        yield f"## {each.kind}, {each.shows}"
        yield ""
        yield f"`{each.name}` of `examples/{each.example}`."
        yield ""
        yield "| Variable | Role | Value |"
        yield "|---|---|---|"
        for name in dict.fromkeys(name for found in roles.values() for name in found):
            yield from _rows(name, {role: found[name] for role, found in roles.items() if name in found}, len(roles))
    yield ""


def _rows(name: str, values: dict[str, str], roles: int) -> Iterator[str]:
    for value in dict.fromkeys(values.values()):
        having = [role for role, own in values.items() if own == value]
        yield f"| `{name}` | {'all' if len(having) == roles > 1 else ', '.join(having)} | {value} |"


def variables(example: str, kind: str, job: str) -> dict[str, dict[str, str]]:
    """Return for each role the variables that are not the user's own, with their values in Markdown."""
    (folder,) = (_OUT / example).glob(f"*/{kind.lower()}-{job}")
    own = set(_names(_read(folder / f"{folder.name}.yaml")["spec"]))
    roles: dict[str, dict[str, str]] = {}
    for template in (each for file in sorted(folder.glob("job*.yaml")) for each in _templates(_read(file))):
        role = template["metadata"]["labels"].get("stowplan.dev/role")
        for container in _programs(template["spec"]) if role else ():
            roles[role] = {
                each["name"]: markdown.variable(each) for each in container["env"] if each["name"] not in own
            }
    return roles


def _read(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return found


def _templates(workload: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the pod templates of a Job or a JobSet."""
    if workload["kind"] == "Job":
        yield workload["spec"]["template"]
    for each in workload["spec"].get("replicatedJobs", ()):
        yield each["template"]["spec"]["template"]


def _programs(pod: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the container that trains or serves, which is none of an agent and no etcd."""
    for each in [*pod.get("initContainers", ()), *pod["containers"]]:
        if "/stowplan-" not in each["image"] and "/etcd:" not in each["image"] and each.get("env"):
            yield each


def _names(value: Any) -> Iterator[str]:
    """Yield the names of all variables that a spec sets itself."""
    if isinstance(value, dict):
        for each in value["env"] if isinstance(value.get("env"), list) else ():
            yield each["name"]
        value = list(value.values())
    for each in value if isinstance(value, list) else ():
        yield from _names(each)
