"""The settings of the reporter, and its kinds."""

import json
from pathlib import Path

import pytest

from stowplan.agents.cluster.place import collection
from stowplan.agents.reporter.command import arguments, settings
from stowplan.agents.reporter.rules import registry
from stowplan.agents.runtime.settings import SettingsError
from stowplan.schema.agents.reporter_config import ReporterConfig
from stowplan.schema.export.crd import custom_resource_definition
from stowplan.schema.kinds import table

CONFIG = {"namespace": "ml", "jobSets": True, "mxnetSuccess": "worker"}


def read_back(folder: Path, config: object) -> ReporterConfig:
    path = folder / "config.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    return settings(arguments([f"--config={path}"]), {})


def test_settings(tmp_path: Path) -> None:
    found = read_back(tmp_path, CONFIG)
    assert (found.namespace, found.job_sets, found.mxnet_success) == ("ml", True, "worker")


@pytest.mark.parametrize("config", [{}, {**CONFIG, "namespace": "Ml"}, {**CONFIG, "more": 1}])
def test_wrong_configuration(tmp_path: Path, config: object) -> None:
    with pytest.raises(SettingsError, match="configuration"):
        read_back(tmp_path, config)


def test_every_kind_is_reported_on_and_only_in_fields_that_it_has() -> None:
    models = {name: kind.model for name, kind in table.KINDS.items()}
    assert set(models) == set(registry.RULES)
    for kind, rules in registry.RULES.items():
        model = models[kind]
        served = custom_resource_definition(model)["spec"]
        version = f"{served['group']}/{served['versions'][0]['name']}"
        assert collection(kind, "ml") == f"/apis/{version}/namespaces/ml/{served['names']['plural']}"
        schema = served["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        for name, below in rules.observed.items():
            inside = schema[name].get("items", schema[name]).get("properties", {})
            assert set(below or ()) <= set(inside), name
        fields = {field.alias or name for name, field in model.STATUS.model_fields.items()}
        assert fields >= rules.fields
