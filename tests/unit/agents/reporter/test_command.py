"""The settings of the reporter, and its probe."""

import json
import time
from pathlib import Path

import pytest

from stowplan.agents.reporter import probe
from stowplan.agents.reporter.objects.resources import KINDS
from stowplan.agents.reporter.rules import registry
from stowplan.agents.reporter.settings import ReporterSettings, arguments, settings
from stowplan.agents.runtime.settings import SettingsError
from stowplan.schema.export.crd import custom_resource_definition
from stowplan.schema.kinds import table
from tests.agents.accounts import account_directory

SERVER = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}
CONFIG = {"namespace": "ml", "jobSets": True, "mxnetSuccess": "worker"}


def read_back(folder: Path, config: object) -> ReporterSettings:
    path = folder / "config.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    account = account_directory(folder / "account", token="token")
    words = [f"--config={path}", f"--service-account={account}"]
    return settings(arguments(words), {**SERVER, "HOME": str(folder)})


def test_settings(tmp_path: Path) -> None:
    found = read_back(tmp_path, CONFIG)
    assert (found.namespace, found.job_sets, found.mxnet_success) == ("ml", True, "worker")


@pytest.mark.parametrize("config", [{}, {**CONFIG, "namespace": "Ml"}, {**CONFIG, "more": 1}])
def test_wrong_configuration(tmp_path: Path, config: object) -> None:
    with pytest.raises(SettingsError, match="configuration"):
        read_back(tmp_path, config)


def test_probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert probe.main() == 1
    path = probe.alive_file({"HOME": str(tmp_path)})
    probe.beat(path)
    assert probe.main() == 0
    Path(path).write_text(str(time.monotonic() - probe.ALIVE_SECONDS - 1), encoding="ascii")
    assert probe.main() == 1
    assert "last seen at work" in capsys.readouterr().err


def test_every_kind_is_reported_on_and_only_in_fields_that_it_has() -> None:
    models = table.KINDS
    assert {kind.kind for kind in KINDS} == set(models) == set(registry.RULES)
    for kind in KINDS:
        model = models[kind.kind]
        served = custom_resource_definition(model)["spec"]
        version = f"{served['group']}/{served['versions'][0]['name']}"
        assert (kind.served.plural, kind.served.api_version) == (model.PLURAL, version)
        schema = served["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        for name, below in kind.needed.items():
            inside = schema[name].get("items", schema[name]).get("properties", {})
            assert set(below or ()) <= set(inside), name
        fields = {field.alias or name for name, field in model.STATUS.model_fields.items()}
        assert fields >= registry.RULES[kind.kind].FIELDS
