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
    """Return an immutable ConfigMap with a hash of its content in its name: a new configuration restarts the pods that
    mount it.
    """
    data = content(config)
    name = names.with_hash(stem, names.content_hash(data), names.SUBDOMAIN_LIMIT)
    return _immutable(name, origin, component, data, namespace=namespace, stem=stem, run=run)


def named_config_map(
    name: str, origin: Origin, component: str, config: Model, *, namespace: str, stem: str
) -> Manifest:
    """Return an immutable ConfigMap of a run, whose name ends in the run's hash."""
    return _immutable(name, origin, component, content(config), namespace=namespace, stem=stem, run=True)


def plain_config_map(name: str, origin: Origin, component: str, data: Mapping[str, str], *, namespace: str) -> Manifest:
    """Return a ConfigMap that may change while pods read it."""
    meta = metadata("ConfigMap", name, origin, component, namespace=namespace)
    return Manifest({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": dict(data)}, stem=name)


def content(config: Model) -> dict[str, str]:
    """Return the data of such a ConfigMap: one file."""
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
