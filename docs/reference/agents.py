"""The page about the agents: what the compiler tells them, and how they end."""

from collections.abc import Iterator
from typing import Any

from docs.reference import markdown, programs
from stowplan.compiler.generate.starter import released
from stowplan.library.builders.pods import agent_pod
from stowplan.schema.agents.await_config import AwaitConfig
from stowplan.schema.agents.cache_config import ClearConfig, RmrConfig, RuntimeConfig, SyncConfig, WarmupConfig
from stowplan.schema.agents.exit_codes import MEANINGS, PERMANENT, TERMINATED
from stowplan.schema.agents.gate_config import GateConfig
from stowplan.schema.agents.reporter_config import ReporterConfig
from stowplan.schema.agents.transfer_config import TransferConfig
from stowplan.schema.agents.wait_config import WaitConfig
from stowplan.schema.meta import Model

_CONFIGS: dict[str, type[Model]] = {
    "cache, at a dataset's volume": RuntimeConfig,
    "cache, task sync": SyncConfig,
    "cache, task warmup": WarmupConfig,
    "cache, task rmr": RmrConfig,
    "cache, task clear": ClearConfig,
    "transfer": TransferConfig,
    "gate": GateConfig,
    "wait-dataset": WaitConfig,
    "await": AwaitConfig,
    "reporter": ReporterConfig,
}


def page() -> str:
    """Return the page."""
    return "\n".join(_page())


def _page() -> Iterator[str]:
    yield "# Agents"
    yield ""
    yield "The compiler writes what an agent is told: into a ConfigMap, or as arguments where the agent is part of a"
    yield "pod of users. Nobody else needs to write it, except for `stowplan-transfer`, which works without a cluster"
    yield "too. Secrets are no part of it."
    yield ""
    yield from _images()
    yield "## Exit codes"
    yield ""
    yield "| Code | Name | Meaning | Kubernetes tries again |"
    yield "|---|---|---|---|"
    for code, meaning in MEANINGS.items():
        again = "" if not code else "no" if code in PERMANENT else "yes"
        yield f"| {int(code)} | {code.name} | {markdown.cell(meaning)} | {again} |"
    yield f"| {TERMINATED} | | It was stopped by SIGTERM. | yes |"
    yield ""
    yield "What each program means by its codes is in its help, below."
    yield ""
    yield from _programs()
    objects: dict[str, Any] = {}
    for name, model in _CONFIGS.items():
        schema = model.model_json_schema(by_alias=True)
        objects |= schema.get("$defs", {})
        yield f"## Configuration of {name}"
        yield ""
        yield from _fields(schema)
    yield "## Objects in the configurations"
    yield ""
    for name, schema in sorted(objects.items()):
        if "properties" in schema:
            yield f"### {name}"
            yield ""
            yield from _fields(schema)


def _programs() -> Iterator[str]:
    yield "## Programs"
    yield ""
    yield "What each says of itself by `--help`. Those with `--config` read a file that is described further below; the"
    yield "others are told everything by arguments."
    yield ""
    for name, text in programs.texts():
        yield f"### {name}"
        yield ""
        yield "```text"
        yield text
        yield "```"
        yield ""


def _images() -> Iterator[str]:
    """Yield the images of this release; nothing in a checkout, which has none."""
    found = released.images()
    if found is None or found.registry is None:
        return
    yield "## Images of this release"
    yield ""
    yield "| Agent | Image |"
    yield "|---|---|"
    for agent, digest in found.digests:
        yield f"| {agent} | `{agent_pod.image_name(found.registry, agent)}@{digest}` |"
    yield ""


def _fields(schema: dict[str, Any]) -> Iterator[str]:
    yield "| Field | Type | Meaning |"
    yield "|---|---|---|"
    for name, below in schema.get("properties", {}).items():
        required = ", required" if name in schema.get("required", ()) else ""
        yield f"| `{name}` | {_type(below)}{required} | {markdown.cell(below.get('description', ''))} |"
    yield ""


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if branches := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(_type(branch) for branch in branches)
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "any value"))
