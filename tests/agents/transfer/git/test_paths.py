"""The path of the claim, relative to the program's working directory."""

from tests.agents.transfer.git.agent import Cube, tree
from tests.agents.transfer.git.author import Author

ATTRIBUTES = {".gitattributes": b"*.big filter=lfs diff=lfs merge=lfs -text\n"}


def test_relative_mount_path(cube: Cube, writer: Author) -> None:
    """As a person writes it who runs the program on their own machine."""
    writer.commit({"a": b"1", **ATTRIBUTES, **writer.lfs({"1.big": b"1" * 3000})})
    assert not list(cube.claim.iterdir())
    ended = cube.download(mount="claim")
    assert ended.code == 0, ended.output
    assert tree(cube.clone) == {"a": b"1", **ATTRIBUTES, "1.big": b"1" * 3000}
    cube.git("commit", "--allow-empty", "-q", "-m", "Mine")
    ended = cube.upload(mount="claim")
    assert ended.code == 0, ended.output
    assert writer.git("--git-dir", str(writer.bare), "rev-parse", "main") == cube.head
