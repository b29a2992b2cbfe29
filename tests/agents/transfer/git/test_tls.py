"""Servers with certificates of a private authority."""

from pathlib import Path

import pytest

from tests.agents.transfer.git.agent import Cube, tree
from tests.agents.transfer.git.author import Author, author
from tests.agents.transfer.git.server import serving
from tests.cluster.certificates import Authority

ATTRIBUTES = {".gitattributes": b"*.big filter=lfs diff=lfs merge=lfs -text\n"}


@pytest.mark.parametrize("way", ["caBundle", "SSL_CERT_FILE", "GIT_SSL_CAINFO", "nobody"])
def test_authority_of_its_own(tmp_path: Path, way: str) -> None:
    """Git and Git LFS read different variables for the same thing."""
    authority = Authority.create(tmp_path / "authority")
    path = str(authority.certificate)
    with serving(tmp_path / "forge", authority.issue("forge")) as forge:
        writer = author(tmp_path / "author", forge)
        data = {"1.big": b"1" * 3000}
        writer.commit({**ATTRIBUTES, **writer.lfs(data)})
        options = {"caBundle": path} if way == "caBundle" else {}
        environment = {way: path} if way.isupper() else {}
        cube = Cube(tmp_path, f"{forge.url}/model.git", {**options, "requestRetries": 0})
        ended = cube.download(environment=environment)
        if way == "nobody":
            assert (ended.code, ended.last["reason"]) == (10, "RequestFailed"), ended.output
            assert "certificate" in ended.last["message"]
            assert forge.seen == []
            return
        assert ended.code == 0, ended.output
        assert tree(cube.clone) == {**ATTRIBUTES, **data}
        clone = Author(cube.clone, forge)
        clone.git("lfs", "install", "--local", "--skip-repo")
        (cube.clone / "2.big").write_bytes(b"2" * 3000)
        clone.git("add", "2.big")
        clone.git("commit", "-q", "-m", "New")
        ended = cube.upload(environment=environment)
        assert ended.code == 0, ended.output
        assert clone.git("--git-dir", str(clone.bare), "rev-parse", "main") == clone.head
        assert len(list(forge.objects().iterdir())) == 2
