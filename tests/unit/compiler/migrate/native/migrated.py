"""What `stowplan migrate --to native` makes of specs, for the tests of this folder."""

from dataclasses import dataclass
from typing import Any

import yaml

from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.migrate.native import files


@dataclass(frozen=True)
class Result:
    """The new contents of the files that changed, and the diagnostics."""

    texts: dict[str, str]
    diagnostics: list[Diagnostic]

    @property
    def reasons(self) -> list[tuple[str, str]]:
        """Code and field of each spec that stays."""
        return [(each.code, each.field_path) for each in self.diagnostics if each.code == "SP427"]

    @property
    def omitted(self) -> list[str]:
        """The fields that were left out."""
        return [each.field_path for each in self.diagnostics if each.code == "SP428"]

    def document(self, index: int = 0) -> Any:
        """A document of the only file that changed."""
        (text,) = self.texts.values()
        return list(yaml.safe_load_all(text))[index]


def migrated(*texts: str) -> Result:
    """Each text is a file, of one repository without a platform file."""
    report = Report()
    found = files.migrated({f"{index}.yaml": text for index, text in enumerate(texts)}, report)
    assert not report.failed, report.diagnostics
    return Result(found, list(report.diagnostics))


def spec(kind: str, body: str, name: str = "x") -> str:
    """A document of a legacy kind, whose `spec` is `body`."""
    lines = "".join(f"  {line}\n" for line in body.strip("\n").splitlines())
    return f"apiVersion: {VERSIONS[kind]}\nkind: {kind}\nmetadata: {{name: {name}, namespace: ml}}\nspec:\n{lines}"


VERSIONS = {
    "DataCube": "tensorstack.dev/v1beta1",
    "MxJob": "mxnet.mlkube.io/v1beta1",
    "PaddleJob": "batch.paddlepaddle.org/v1",
    "SampleJob": "batch.paddlepaddle.org/v1alpha1",
    "SampleSet": "batch.paddlepaddle.org/v1alpha1",
    "TrainingJob": "paddlepaddle.org/v1alpha1",
}
