"""ConfigMap with an agent's configuration."""

from collections.abc import Mapping

from stowplan.library.builders.metadata import metadata
from stowplan.library.ir.data import Origin
from stowplan.library.manifest import Manifest
from stowplan.library.values import names
from stowplan.library.values.canonical_json import indented
from stowplan.schema.agents.cache_config import CONFIG_FILE
from stowplan.schema.meta import Model


def config_map(stem: str, origin: Origin, component: str, config: Model, *, namespace: str, run: bool) -> Manifest:
    """Return an immutable ConfigMap with `config` as its only file.

    Its name is `stem` and a hash of the content, so a new configuration has a new name and restarts the pods that
    mount the ConfigMap. `run` is true if the ConfigMap belongs to a run.
    """
    data = content(config)
    name = names.with_hash(stem, names.content_hash(data), names.SUBDOMAIN_LIMIT)
    return _immutable(name, origin, component, data, namespace=namespace, stem=stem, run=run)


def named_config_map(
    name: str, origin: Origin, component: str, config: Model, *, namespace: str, stem: str
) -> Manifest:
    """Return an immutable ConfigMap of a run, with `config` as its only file.

    The caller has put the run's hash into `name`. `stem` is the name without the hash.
    """
    return _immutable(name, origin, component, content(config), namespace=namespace, stem=stem, run=True)


def plain_config_map(name: str, origin: Origin, component: str, data: Mapping[str, str], *, namespace: str) -> Manifest:
    """Return a mutable ConfigMap, which may change while pods read it. `data` are the contents of its files by name."""
    meta = metadata("ConfigMap", name, origin, component, namespace=namespace)
    return Manifest({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": dict(data)}, stem=name)


def content(config: Model) -> dict[str, str]:
    """Return the data of an agent's ConfigMap: one file, `config.json`, with `config` as JSON."""
    plain = config.model_dump(mode="json", exclude_none=True)
    return {CONFIG_FILE: f"{indented(plain).decode()}\n"}


def _immutable(
    name: str, origin: Origin, component: str, data: Mapping[str, str], *, namespace: str, stem: str, run: bool
) -> Manifest:
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata("ConfigMap", name, origin, component, namespace=namespace),
        "immutable": True,
        "data": dict(data),
    }
    return Manifest(body, stem=stem, run=run)
