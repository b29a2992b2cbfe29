"""The page about the agents: what the compiler tells them, and how they end."""

from collections.abc import Iterator

from docs.reference import markdown
from stowplan.compiler.specs.field_help import every_field
from stowplan.schema.agents.await_config import AwaitConfig
from stowplan.schema.agents.cache_config import ClearConfig, RmrConfig, RuntimeConfig, SyncConfig, WarmupConfig
from stowplan.schema.agents.exit_codes import MEANINGS, PERMANENT, TERMINATED
from stowplan.schema.agents.gate_config import GateConfig
from stowplan.schema.agents.reporter_config import ReporterConfig
from stowplan.schema.agents.transfer_config import TransferConfig
from stowplan.schema.agents.wait_config import WaitConfig
from stowplan.schema.export.plain_schema import plain_schema
from stowplan.schema.meta import Model

_CONFIGS: dict[str, type[Model]] = {
    "cache, at a dataset's volume": RuntimeConfig,
    "cache, task sync": SyncConfig,
    "cache, task warmup": WarmupConfig,
    "cache, task rmr": RmrConfig,
    "cache, task clear": ClearConfig,
    "transfer": TransferConfig,
    "gate": GateConfig,
    "wait-spec": WaitConfig,
    "await": AwaitConfig,
    "reporter": ReporterConfig,
}


def page() -> str:
    """Return the page."""
    return "\n".join(_page())


def _page() -> Iterator[str]:
    yield "# Agents"
    yield ""
    yield "The compiler writes what an agent is told into a ConfigMap. Nobody else needs to write it, except for"
    yield "`stowplan-transfer`, which works without a cluster too. Secrets are no part of it."
    yield ""
    yield "## Exit codes"
    yield ""
    yield "| Code | Name | Meaning | Kubernetes tries again |"
    yield "|---|---|---|---|"
    for code, meaning in MEANINGS.items():
        again = "" if not code else "no" if code in PERMANENT else "yes"
        yield f"| {int(code)} | {code.name} | {markdown.cell(meaning)} | {again} |"
    yield f"| {TERMINATED} | | It was stopped by SIGTERM. | yes |"
    yield ""
    for name, model in _CONFIGS.items():
        yield f"## Configuration of {name}"
        yield ""
        yield "| Field | Type | Meaning |"
        yield "|---|---|---|"
        for each in every_field(plain_schema(model)):
            text = markdown.cell(" ".join((each.text, *each.limits)))
            yield f"| `{each.path}` | {each.type}{', required' if each.required else ''} | {text} |"
        yield ""
