"""The steps of the workflow that makes a release, as far as they run without GitHub, a public registry and Sigstore.

`tests/starter/test_ci_lint.py` lints the workflow itself, and `tests/nightly/release` makes images.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from ruamel.yaml import YAML

from tests.release.workflow import AGENTS, FOLDERS, IMAGES, VERSION, WORKFLOW, must, run, step
from tests.repositories import REPOSITORY


def test_check_wants_both_variables_and_a_tag_of_this_version(checkout: Path) -> None:
    variables = {"REGISTRY": "registry.example.com/stowplan", "INDEX_URL": "https://index.example.com/legacy/"}
    check = step("check", "Check the variables of the repository")
    must(check, checkout, **variables)
    for name in variables:
        done = run(check, checkout, variables | {name: ""})
        assert done.returncode != 0
        assert f"{name}: names no " in done.stderr
    agreement = step("check", "Check the tag, the version and the changelog")
    must(agreement, checkout)
    done = run(agreement, checkout, {"GITHUB_REF_NAME": "v9.8.6"})
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)


def test_uv_is_installed_by_the_hashes_of_the_lock_file(checkout: Path, tmp_path: Path) -> None:
    """To look at the hashes alone, nothing is installed."""
    shutil.copy(REPOSITORY / "uv.lock", checkout)
    (checkout / "build").mkdir()
    script = step("publish", "Install uv")
    assert "pip install --require-hashes --only-binary :all: --requirement build/uv.txt" in script
    look = f"pip download --no-deps --dest {tmp_path / 'wheels'} --require-hashes"
    script = script.replace("pip install --require-hashes", f"python -m {look}")
    must(script, checkout)
    assert len(list((tmp_path / "wheels").glob("uv-*.whl"))) == 1
    requirement = checkout / "build/uv.txt"
    requirement.write_text(re.sub(r"sha256:[0-9a-f]{8}", "sha256:00000000", requirement.read_text()))
    done = run(script.splitlines()[1], checkout, {})
    assert done.returncode != 0
    assert "DO NOT MATCH" in done.stdout + done.stderr


def test_package_names_its_images_by_digest_to_a_new_repository(checkout: Path, tmp_path: Path) -> None:
    digests = {agent: f"sha256:{number:064x}" for number, agent in enumerate(AGENTS, start=10)}
    folder = checkout / "build/digests"
    folder.mkdir(parents=True)
    compiler = f"sha256:{9:064x}"
    for image, digest in {**digests, "compiler": compiler}.items():
        (folder / image).write_text(f"{digest}\n")
    build = (
        step("package", "Build")
        .replace("make .venv/ready\n", "")
        .replace(".venv/bin/python .ci", f"PYTHONPATH={':'.join(FOLDERS)} .venv/bin/python .ci")
    )
    must(build, checkout, REGISTRY="registry.example.com/stowplan")
    (wheel,) = (checkout / "build/release/dist").glob(f"stowplan-{VERSION}-*.whl")
    (source,) = (checkout / "build/release/dist").glob(f"stowplan-{VERSION}.tar.gz")
    name = "compiler/generate/starter/released-images.json"
    must(f"uv pip install --quiet --no-deps --target {tmp_path / 'site'} {wheel}", checkout)
    with tarfile.open(source) as archive:
        assert [each for each in archive.getnames() if each.endswith(name)] != []
    init = "from stowplan.compiler.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", init, "init", tmp_path / "mine"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    platform = YAML(typ="safe").load(tmp_path / "mine/stowplan.yaml")
    assert platform["images"] == {"registry": "registry.example.com/stowplan", "digests": digests}

    must(
        step("package", "Write the notes"),
        checkout,
        REGISTRY="registry.example.com/stowplan",
        GITHUB_SERVER_URL="https://git.example.com",
        GITHUB_REPOSITORY="a/b",
    )
    notes = (checkout / "build/release/notes.md").read_text()
    assert notes.startswith(f"- Sails, see [how](https://git.example.com/a/b/blob/v{VERSION}/README.md).\n")
    assert f"- `registry.example.com/stowplan/stowplan-git@{digests['git']}`\n" in notes
    assert f"- `registry.example.com/stowplan/stowplan-compiler@{compiler}`\n" in notes


def test_package_is_not_built_without_the_digest_of_each_image(checkout: Path) -> None:
    folder = checkout / "build/digests"
    folder.mkdir(parents=True)
    for agent in AGENTS[1:]:
        (folder / agent).write_text(f"sha256:{1:064}\n")
    script = f"PYTHONPATH={':'.join(FOLDERS)} python .ci/released_images.py registry.example.com/a build/digests"
    done = run(script, checkout, {})
    assert (done.returncode, done.stderr) == (1, f"build/digests has no digest of {AGENTS[0]}.\n")
    (folder / AGENTS[0]).write_text("latest\n")
    done = run(script, checkout, {})
    assert done.returncode == 1
    assert done.stderr.startswith(f"digests.{AGENTS[0]}: ")


def test_bill_of_the_package_has_what_the_compiler_depends_on(checkout: Path) -> None:
    (checkout / "build/sbom").mkdir(parents=True)
    must(step("sbom", "Write what the images and the package hold").replace("make sbom\n", ""), checkout)
    bill = json.loads((checkout / "build/sbom/stowplan.cdx.json").read_text())
    component = bill["metadata"]["component"]
    assert (component["name"], component["version"]) == ("stowplan", VERSION)
    assert {"cdk8s", "pydantic", "typer"} <= {each["name"] for each in bill["components"]}


def test_jobs_build_each_image() -> None:
    assert tuple(WORKFLOW["jobs"]["join"]["strategy"]["matrix"]["image"]) == IMAGES
    assert f"for image in {' '.join(IMAGES)}; do" in step("images", "Push")
    (made,) = re.findall(r"^IMAGES := (.*)$", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
    assert tuple(made.split()) == IMAGES


def test_each_job_has_no_more_rights_than_it_needs() -> None:
    """Only the last one may write to the repository, and it runs no code of the repository or of packages."""
    assert WORKFLOW["permissions"] == {}
    writing = {
        name: {right for right, level in job["permissions"].items() if level == "write"}
        for name, job in WORKFLOW["jobs"].items()
    }
    assert {name: rights for name, rights in writing.items() if rights} == {
        "images": {"packages"},
        "join": {"attestations", "id-token", "packages"},
        "package": {"attestations", "id-token"},
        "publish": {"id-token"},
        "release": {"contents"},
    }
    assert [each.get("uses", "").partition("@")[0] for each in WORKFLOW["jobs"]["release"]["steps"]] == [
        "actions/download-artifact",
        "",
    ]
