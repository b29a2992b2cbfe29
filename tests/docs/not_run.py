"""The commands of pages that tests run, and those that no test runs."""

from tests.docs.prose import Block, words

LOCAL = {"cat", "cd", "cp", "git", "grep", "ls", "mkdir", "mv", "python", "rm", "sed", "stowplan"}
"""Programs that a page may name besides, and that tests run."""

NOT_RUN = {
    **dict.fromkeys(("argocd", "helm", "k3d", "kind", "kubectl"), "needs a cluster"),
    **dict.fromkeys(("cosign", "docker", "gh", "podman", "skopeo"), "needs a registry"),
    "pip": "installs from an index",
    **dict.fromkeys(("python3", "."), "makes the environment that the tests run in"),
    "make": "runs these tests, or builds images: tests/agents",
    "stowplan-transfer": "copies from a server that is nobody's; test_texts.py reads its settings",
    "git push": "needs a Git host",
    "stowplan comment": "writes to a Git host; tests/unit/compiler/comments plays one",
    "stowplan pin": "asks registries; tests/pins does",
    "stowplan status": "asks a cluster; tests/cluster does",
    "stowplan retire resnet llama": "names jobs of the reader",
    "stowplan --install-completion": "edits the shell's own files",
    "stowplan init --ci commit": "is said of another repository than the line before",
}
"""Commands of pages that no test runs as they stand there, by their beginning, and why."""


def not_run(command: str) -> str:
    """Return the beginning by which a command is in the list of those that are not run; empty if it is not."""
    given = words(command)
    return next((" ".join(given[:n]) for n in range(1, len(given) + 1) if " ".join(given[:n]) in NOT_RUN), "")


def runnable(block: Block) -> list[str]:
    """Return the commands of a `bash` block that a test runs."""
    return [command for command in block.commands if not not_run(command)] if block.language == "bash" else []
