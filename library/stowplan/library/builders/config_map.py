"""ConfigMap that carries an agent's configuration."""

import json

from stowplan.library import names
from stowplan.library.builders.metadata import metadata
from stowplan.library.ir import Origin
from stowplan.library.manifest import Manifest
from stowplan.schema.agent_config import CONFIG_FILE, AgentConfig


def config_map(
    stem: str, origin: Origin, component: str, config: AgentConfig, *, namespace: str, run: bool
) -> Manifest:
    """An immutable ConfigMap named by its content, so that a new configuration restarts what mounts it."""
    content = config.model_dump(mode="json", exclude_none=True)
    data = {CONFIG_FILE: json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n"}
    name = names.with_hash(stem, names.content_hash(data), names.SUBDOMAIN_LIMIT)
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata("ConfigMap", name, origin, component, namespace=namespace),
        "immutable": True,
        "data": data,
    }
    return Manifest(body, stem=stem, run=run)
