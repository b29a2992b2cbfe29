"""Only `claim.folder` opens, creates, renames and removes files of a claim: a path may lead elsewhere at any moment."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import stowplan.agents

(AGENTS,) = map(Path, stowplan.agents.__path__)
ONLY = "attempt/claim/folder.py"

OF_OS = frozenset(
    "chmod chown fwalk link listdir makedirs mkdir mkfifo mknod open remove removedirs rename renames replace rmdir"
    " scandir symlink truncate unlink utime walk".split()
)
OF_PATHS = frozenset(
    "chmod glob hardlink_to iterdir mkdir open read_bytes read_text rename rglob rmdir symlink_to touch unlink"
    " write_bytes write_text".split()
)
"""Methods of paths in Python 3.11. Those of `ClaimFolder` and `Tree` have other names."""
OF_SHUTIL = frozenset("which copyfileobj".split())
"""Functions that take no path of a file."""

PRIVATE = {"glob", "mkdir", "open", "os.utime", "rglob", "symlink_to", "tempfile.mkdtemp"}
ELSEWHERE = {
    # Of the pod or the machine, outside of each claim.
    "attempt/dataset_lock/owner.py": {"read_text"},  # /proc
    "attempt/safe_files.py": {"read_text"},  # /proc
    "attempt/termination_log.py": {"write_text"},
    "cache/drivers/bounded_subprocess.py": {"tempfile.TemporaryFile"},
    "cache/drivers/juicefs/listing/extra.py": {"tempfile.SpooledTemporaryFile"},  # in scratch
    "cache/drivers/juicefs/listing/dry_run.py": {"tempfile.TemporaryDirectory"},  # in scratch
    "cache/drivers/juicefs/listing/wanted.py": {"open", "tempfile.TemporaryDirectory", "write_text"},  # in scratch
    "cache/drivers/juicefs/sync.py": {"tempfile.TemporaryDirectory"},
    "cache/drivers/juicefs/watch.py": {"open"},  # a URL of the child is opened
    "cache/drivers/juicefs/volume_state.py": {"tempfile.TemporaryDirectory", "mkdir", "write_bytes"},
    "cache/runtime/space.py": {"read_text"},  # /proc
    "cluster/access.py": {"read_text"},
    "cluster/client.py": {"read_bytes"},
    "runtime/heartbeat.py": {"open", "os.replace"},
    "runtime/settings.py": {"read_bytes"},
    "transfer/command.py": {"read_text"},
    "transfer/remotes/git/program/git.py": {"shutil.rmtree", "tempfile.mkdtemp", "tempfile.gettempdir"},
    "transfer/remotes/git/program/idle.py": {"glob", "iterdir", "read_text"},  # /proc
    "transfer/remotes/git/private.py": PRIVATE,  # Git's own directory in scratch
    "transfer/remotes/git/program/lfs_filter.py": {"tempfile.SpooledTemporaryFile"},
    "transfer/remotes/git/commit/attributes.py": {"tempfile.TemporaryFile"},  # in scratch
    "transfer/remotes/s3/protocol/lists/sorting.py": {"tempfile.TemporaryFile"},  # in scratch
    "transfer/remotes/git/repository.py": {"shutil.copyfile"},  # within scratch
    "transfer/remotes/git/work_tree.py": {"unlink"},  # within scratch
    "transfer/settings.py": {"iterdir", "read_text"},  # mounted Secrets
    "transfer/remotes/huggingface/__init__.py": {"tempfile.mkdtemp"},
    "wait/run.py": {"unlink", "write_text"},
    # By their descriptors.
    "attempt/lock.py": {"open", "os.utime"},  # `LockFile.open`
    "transfer/files/draft.py": {"os.utime"},
    "transfer/files/extra.py": {"tempfile.SpooledTemporaryFile"},  # in scratch
    # A mount itself, which the pod names; and a program of its own, which imports nothing.
    "cache/drivers/juicefs/reading.py": {"os.open"},
    "wait/dataset/readiness.py": {"os.scandir"},
    # What Git is about to open by its path.
    "transfer/remotes/git/program/gitdir.py": {"os.scandir"},
}
"""Modules that access files in other ways, with the functions that they use for that, and why they may."""


def test_nothing_else_accesses_files_of_a_claim() -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for path in sorted(AGENTS.rglob("*.py")):
        name = path.relative_to(AGENTS).as_posix()
        if name != ONLY:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                found[name] |= accesses(node)
    assert {name: used for name, used in found.items() if used} == ELSEWHERE


def accesses(node: ast.AST) -> set[str]:
    """The functions that a call or an import uses to access files by a path."""
    if isinstance(node, ast.ImportFrom):
        return {used for each in node.names if (used := of_module(node.module or "", each.name))}
    return {used} if isinstance(node, ast.Call) and (used := access(node)) else set()


def of_module(module: str, name: str) -> str | None:
    """The full name of a function of a module, if it accesses files by a path."""
    accessing = {"os": name in OF_OS, "shutil": name not in OF_SHUTIL, "tempfile": True, "io": name == "open"}
    return f"{module}.{name}" if accessing.get(module) else None


def access(call: ast.Call) -> str | None:
    """The function of a call that accesses files by a path, or may do so; None for any other call."""
    if isinstance(call.func, ast.Name):
        return call.func.id if call.func.id == "open" else None
    if not isinstance(call.func, ast.Attribute):
        return None
    name, of = call.func.attr, call.func.value
    module = of.id if isinstance(of, ast.Name) else ""
    if module in ("os", "shutil", "tempfile", "io"):
        return of_module(module, name)
    # `replace` of strings takes two arguments, and that of times and of dataclasses takes keywords.
    is_path = name in OF_PATHS or (name == "replace" and len(call.args) == 1 and not call.keywords)
    return name if is_path else None


WRITERS = {
    "attempt/lock.py": {"shared"},
    "cache/drivers/juicefs/control.py": {"existing"},  # by which a mount is controlled
    "transfer/remotes/git/private.py": {"new"},  # Git's own files
    "transfer/remotes/git/program/leftovers.py": {"shared"},  # a lock
    "transfer/remotes/huggingface/hub/xet.py": {"new"},  # what hf-xet remembers
    "transfer/engine.py": {"new"},  # a file that shows whether the destination tells case apart
    "transfer/files/draft.py": {"existing", "new"},
}
"""Modules that open files of a claim to write to them, beside the small files of text in the state folders."""


def test_one_module_writes_the_files_of_copies() -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for path in sorted(AGENTS.rglob("*.py")):
        name = path.relative_to(AGENTS).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if name != ONLY else ():
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
                continue
            if ast.unparse(node.func.value) != "hashlib":
                found[name] |= {node.func.attr} & {"existing", "new", "shared"}
    opening = {name: used for name, used in found.items() if used}
    # Each other call is one of `Draft` itself.
    drafts = {"transfer/parts.py", "transfer/remotes/pvc.py", "transfer/remotes/git/lfs/objects.py"}
    drafts |= {"transfer/remotes/s3/fetch.py", "transfer/remotes/huggingface/fetch.py"}
    assert {name: used for name, used in opening.items() if name not in drafts} == WRITERS
    for name in drafts:
        text = (AGENTS / name).read_text(encoding="utf-8")
        assert not re.search(r"(?<!Draft)\.(existing|new|shared)\(\S", text), name


def test_what_accesses_files_is_recognised() -> None:
    code = (
        "from os import unlink",
        "os.open(p, 0)",
        "open(p)",
        "shutil.rmtree(p)",
        "tempfile.mkdtemp()",
        "p.open()",
        "p.replace(q)",
        "(a / b).unlink()",
        "os.rename(p, q, src_dir_fd=1)",
    )
    other = ("os.fsync(1)", "text.replace('a', 'b')", "replace(x, y=1)", "folder.reader(n)", "moment.replace(hour=1)")

    def found(text: str) -> set[str]:
        return {used for node in ast.walk(ast.parse(text)) for used in accesses(node)}

    assert all(map(found, code))
    assert not any(map(found, other))
