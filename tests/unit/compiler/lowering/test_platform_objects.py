"""Objects that the platform file adds to the output."""

from pathlib import Path

from stowplan.compiler.yaml.reader import read
from tests.unit.users import PLATFORM, SPEC, laid_out, run


def test_applications_have_a_destination_that_their_project_allows(tmp_path: Path) -> None:
    platform = PLATFORM.replace(".git}", '.git, destination: {namespaces: ["*", "!def*"]}}')
    laid_out(tmp_path, SPEC.replace("name: imagenet\nspec", "name: imagenet\n  namespace: vision\nspec"), platform)
    assert run("synth", str(tmp_path)).exit_code == 0
    (file,) = (tmp_path / "out/argocd").glob("*application*crds*.yaml")
    documents, _ = read(file.read_text(), file.name)
    assert documents[0].data["spec"]["destination"]["namespace"] == "vision"
