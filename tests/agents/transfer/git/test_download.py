"""From a real Git server to a claim."""

from tests.agents.transfer.git.agent import Cube, tree
from tests.agents.transfer.git.author import Author

FILES = {"a.txt": b"a", "deep/er/b.bin": bytes(range(256)) * 300, "deep/ü n.txt": b"", "[x]*": b"odd"}


def test_head_of_the_remote_is_the_default(cube: Cube, writer: Author) -> None:
    writer.git("checkout", "-q", "-b", "trunk")
    commit = writer.commit(FILES)
    writer.git("push", "-q", "origin", "HEAD:refs/heads/master")
    writer.git("--git-dir", str(writer.bare), "symbolic-ref", "HEAD", "refs/heads/trunk")
    ended = cube.download(run="run")
    assert ended.code == 0, ended.output
    assert tree(cube.clone) == FILES
    assert (cube.head, cube.git("symbolic-ref", "HEAD")) == (commit, "refs/heads/trunk")
    assert cube.git("status", "--porcelain") == ""
    assert cube.git("config", "remote.origin.url") == cube.url
    assert not cube.hidden.exists()
