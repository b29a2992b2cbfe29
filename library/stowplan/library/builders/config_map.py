"""ConfigMap with an agent's configuration."""

from collections.abc import Mapping

from stowplan.library.builders.metadata import Head, manifest
from stowplan.library.manifest import Manifest
from stowplan.library.values import names
from stowplan.library.values.canonical_json import indented
from stowplan.schema.agents.agent_config import CONFIG_FILE
from stowplan.schema.meta import Model


def config_map(stem: str, head: Head, config: Model, *, run: bool) -> Manifest:
    """Return an immutable ConfigMap with `config` as its only file.

    Its name is `stem` and a hash of the content, so a new configuration has a new name and restarts the pods that
    mount the ConfigMap. `run` is true if the ConfigMap belongs to a run.
    """
    data = content(config)
    name = names.with_hash(stem, names.content_hash(data), names.SUBDOMAIN_LIMIT)
    return manifest("ConfigMap", name, head, stem=stem, run=run, immutable=True, data=data)


def named_config_map(name: str, head: Head, config: Model, *, stem: str) -> Manifest:
    """Return an immutable ConfigMap of a run, with `config` as its only file.

    The caller has put the run's hash into `name`. `stem` is the name without the hash.
    """
    return manifest("ConfigMap", name, head, stem=stem, run=True, immutable=True, data=content(config))


def plain_config_map(name: str, head: Head, data: Mapping[str, str]) -> Manifest:
    """Return a mutable ConfigMap, which may change while pods read it. `data` are the contents of its files by name."""
    return manifest("ConfigMap", name, head, data=dict(data))


def content(config: Model) -> dict[str, str]:
    """Return the data of an agent's ConfigMap: one file, `config.json`, with `config` as JSON."""
    plain = config.model_dump(mode="json", exclude_none=True)
    return {CONFIG_FILE: f"{indented(plain).decode()}\n"}
