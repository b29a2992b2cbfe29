"""The repository of the tests: its specs, its lock file, and the command."""

from pathlib import Path

from ruamel.yaml import YAML
from typer.testing import Result

from tests.unit.users import run

PLATFORM = "defaultNamespace: ml\n"


def training(image: str, more: str = "") -> None:
    Path("specs/sft.yaml").write_text(
        "apiVersion: stowplan.dev/v1alpha1\nkind: Training\nmetadata: {name: sft}\n"
        f"spec:\n  framework: torch\n  image: {image}\n  command: [torchrun, train.py]\n{more}"
    )


def dataset(source: str) -> None:
    Path("specs/data.yaml").write_text(
        "apiVersion: stowplan.dev/v1alpha1\nkind: Dataset\nmetadata: {name: data}\n"
        f"spec:\n  source: {source}\n  volume: {{claim: {{name: samples}}}}\n"
    )


def cube(hub: str) -> None:
    """A DataCube that copies from a Hub of its own."""
    Path("specs/cube.yaml").write_text(
        "apiVersion: tensorstack.dev/v1beta1\nkind: DataCube\nmetadata: {name: gpt}\n"
        "spec:\n  source: {type: huggingface, options: [{name: repo, value: acme/gpt}]}\n"
        "  sink: {type: pvc, pvc: {name: models}}\n"
        f"  executor: {{env: [{{name: HF_ENDPOINT, value: '{hub}'}}]}}\n"
    )


def lock() -> dict[str, dict[str, dict[str, object]]]:
    return dict(YAML(typ="safe").load(Path("stowplan.lock").read_text()))


def pinned(*arguments: str) -> Result:
    found = run("pin", *arguments)
    assert found.exit_code == 0, found.output
    return found
