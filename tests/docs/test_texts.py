"""What the README and the pages show compiles, and is configured as shown.

`tests/command/test_pages.py` runs their commands.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import run
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from stowplan.agents.transfer.remotes.git.address import GitCredentials
from stowplan.agents.transfer.remotes.git.settings import git_settings
from stowplan.agents.transfer.remotes.huggingface.hub.settings import huggingface_settings
from stowplan.agents.transfer.remotes.s3.settings import s3_settings
from stowplan.agents.transfer.settings import read, settings
from stowplan.compiler.cli import app
from stowplan.schema.kinds.table import KINDS
from tests.docs.not_run import not_run
from tests.docs.prose import Block
from tests.repositories import REPOSITORY, compiled

PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs/pages").rglob("*.md"))]
README = PAGES[0].read_text()
TEXTS = "\n".join(path.read_text() for path in PAGES)
FENCED = re.compile(r"^```[^`\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
YAML = re.compile(r"^```yaml[^`\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
UNTITLED = re.compile(r"^```yaml\n(.*?)^```$", re.DOTALL | re.MULTILINE)
"""A block without a title is a whole document. Others are fragments, or files of repositories that a page makes."""

BLOCKS = FENCED.findall(TEXTS)
(SPEC,) = [block for block in BLOCKS if block.startswith("# specs/imagenet.yaml\n")]


def test_first_spec_compiles(tmp_path: Path) -> None:
    result = compiled(tmp_path, {"imagenet.yaml": SPEC})
    assert [found.code for found in result.diagnostics if found.severity != "info"] == []
    paths = [output.path for output in result.outputs]
    assert "ml/dataset-imagenet/job-imagenet-sync.yaml" in paths
    assert "ml/training-resnet/job-resnet-training-node.yaml" in paths


def test_first_specs_are_the_same_as_constructs(tmp_path: Path) -> None:
    (program,) = [block for block in BLOCKS if "import Dataset, Training" in block and "my-repo" in block]
    repo = tmp_path / "my-repo"
    wanted = {each.path: each.manifest.body for each in compiled(repo, {"imagenet.yaml": SPEC}).outputs}
    (repo / "specs/imagenet.yaml").unlink()
    (tmp_path / "main.py").write_text(program)
    done = run([sys.executable, "main.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = {path: yaml.safe_load((repo / "out" / path).read_text()) for path in wanted}
    for each in (*wanted.values(), *found.values()):
        each["metadata"].get("annotations", {}).pop("stowplan.dev/source", None)
    assert found == wanted


def test_transfer_compiles(tmp_path: Path) -> None:
    (spec,) = [block for block in BLOCKS if "kind: DataCube" in block]
    result = compiled(tmp_path, {"gemma.yaml": spec})
    assert result.errors == []
    assert "ml/datacube-gemma/job-gemma-batchjob.yaml" in [output.path for output in result.outputs]


def test_transfer_without_a_cluster_is_configured_as_shown(tmp_path: Path) -> None:
    (shown,) = [block for block in BLOCKS if '"sink"' in block]
    (tmp_path / "gemma.json").write_text(shown)
    environment = dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "x")
    environment["S3_ENDPOINT"] = "https://s3.example.com"
    reported = settings(read(tmp_path / "gemma.json"), environment)
    assert (reported.upload, reported.claim / reported.local.path) == (False, Path("data/gemma").absolute())
    assert s3_settings(reported).key == "gemma/"


def test_hub_in_the_place_of_the_bucket_is_configured_as_shown(tmp_path: Path) -> None:
    (whole,) = [block for block in BLOCKS if '"sink"' in block]
    (source,) = [block for block in BLOCKS if block.startswith('"source": {"type": "huggingface"')]
    config = json.loads(whole) | json.loads(f"{{{source}}}")
    (tmp_path / "gemma.json").write_text(json.dumps(config))
    reported = settings(read(tmp_path / "gemma.json"), {"REPO": "google/gemma-2b", "HF_TOKEN": "hf_x\n"})
    shown = huggingface_settings(reported)
    assert (shown.address, shown.token) == ("https://huggingface.co/google/gemma-2b", "hf_x")
    assert shown.remote.include == ["*.json", "*.safetensors"]


def test_repository_in_the_place_of_the_bucket_is_configured_as_shown(tmp_path: Path) -> None:
    (whole,) = [block for block in BLOCKS if '"sink"' in block]
    (source,) = [block for block in BLOCKS if block.startswith('"source": {"type": "git"')]
    (command,) = [block for block in BLOCKS if block.startswith("URL=")]
    environment = dict(word.split("=", 1) for word in command.split(" stowplan-transfer")[0].split())
    (tmp_path / "gemma.json").write_text(json.dumps(json.loads(whole) | json.loads(f"{{{source}}}")))
    shown = git_settings(settings(read(tmp_path / "gemma.json"), environment))
    assert (shown.address.url, shown.path, shown.ref) == (environment["URL"], "gemma/train", "v1.4")
    assert shown.credentials == GitCredentials("robot", environment["TOKEN"])


def test_mistake_looks_as_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (shown,) = [block for block in BLOCKS if block.startswith("specs/imagenet.yaml:")]
    monkeypatch.chdir(tmp_path)
    Path("specs").mkdir()
    Path("stowplan.yaml").touch()
    Path("specs/imagenet.yaml").write_text(SPEC.replace("numNodes:", "numNode:"))
    assert shown in CliRunner().invoke(app, ["validate"]).output


def test_shell_blocks_of_the_readme_are_run_or_have_a_reason() -> None:
    run = ("stowplan init mine", "stowplan validate my-repo")
    shown: list[str] = re.findall(r"^```sh\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    commands = [each for block in shown if not block.startswith(run) for each in Block("bash", "", block).commands]
    assert [each for each in commands if not not_run(each) and each != "stowplan --help"] == []


def _is_spec(block: str) -> bool:
    return any(f"\nkind: {kind}\n" in block for kind in KINDS)


def test_buckets_in_what_newcomers_copy_are_nobodys() -> None:
    """`example.com` is reserved (RFC 2606); a bucket at a real store may be somebody's, who then gives the data."""
    sources = [
        *PAGES,
        *(REPOSITORY / "examples").rglob("*.yaml"),
        *(REPOSITORY / "compiler/stowplan/compiler/generate/starter").rglob("*.yaml"),
        *(REPOSITORY / "compiler/stowplan/compiler/diagnostics/pages").rglob("*.md"),
    ]
    hosts = {
        host for path in sources for host in re.findall(r"\bs3://(?:[^/\s@]*@)?([\w-]+\.[\w.-]+)", path.read_text())
    }
    assert {host for host in hosts if not host.endswith(".example.com")} == set()
    assert hosts


def test_stores_in_what_newcomers_copy_are_nobodys() -> None:
    """Without an endpoint, a bucket is one at AWS. A Service is of the reader's own cluster."""
    files = [
        *(REPOSITORY / "examples").rglob("*.yaml"),
        *(REPOSITORY / "compiler/stowplan/compiler/generate/starter").glob("*.yaml"),
    ]
    pages = [path.read_text() for path in (REPOSITORY / "compiler/stowplan/compiler/diagnostics/pages").glob("*.md")]
    shown = [*(path.read_text() for path in files), *YAML.findall("\n".join([TEXTS, *pages]))]
    native = re.compile(r"^kind: (Dataset|DatasetTask|Training)$", re.MULTILINE)
    specs = [each for text in shown for each in text.split("\n---\n") if native.search(each)]
    found = [store for each in specs for store in _stores(yaml.safe_load(each))]
    own = re.compile(r"https?://[\w.-]+(\.example\.com|\.svc\.cluster\.local(:\d+)?)")
    assert [each for each in found if not own.fullmatch(each.get("endpoint", ""))] == []
    assert len({each["uri"] for each in found}) >= 5


def _stores(value: Any) -> Iterator[dict[str, str]]:
    """Yield each S3 store in a document, as a source or as a target."""
    if isinstance(value, dict):
        yield from ([value["s3"]] if isinstance(value.get("s3"), dict) else [])
        for below in value.values():
            yield from _stores(below)
    elif isinstance(value, list):
        for below in value:
            yield from _stores(below)


def test_links_lead_somewhere() -> None:
    """Those to the generated reference are looked at by `make docs`."""
    for page in PAGES:
        links = set(re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()))
        found = {link for link in links if not (page.parent / link).exists()}
        assert {link for link in found if "reference/" not in link} == set(), page


def test_readme_is_short() -> None:
    assert len(README.splitlines()) <= 200


SPECS = [(page, block) for page in PAGES for block in UNTITLED.findall(page.read_text()) if _is_spec(block)]


@pytest.mark.parametrize(
    ("page", "block"), SPECS, ids=[f"{page.stem}-{index}" for index, (page, _) in enumerate(SPECS)]
)
def test_whole_specs_compile(page: Path, block: str, tmp_path: Path) -> None:
    """A Dataset that a task names is the one that its page shows."""
    known = [REPOSITORY / "docs/pages/guides/datasets.md"]
    files = {"block.yaml": block}
    if page in known and "kind: DatasetTask" in block:
        files["corpus.yaml"] = next(each for _, each in SPECS if "name: corpus\n" in each)
    assert compiled(tmp_path, files).errors == []
