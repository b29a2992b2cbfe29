"""Other programs for the same task, and their installation."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.bench.compile import peer_files, programs, templates, workload
from tests.bench.compile.process import run
from tests.bench.compile.programs import Command, Program, Work
from tests.bench.compile.same import compare
from tests.cluster.binaries import Missing, obtain
from tests.cluster.tools import Tool

HERE = Path(__file__).parent / "peer_programs"
REQUIREMENTS = HERE / "requirements.txt"
READY = "ready"
"""An empty file in an environment that is complete."""
KUSTOMIZE = Tool("kustomize", "sigs.k8s.io/kustomize/kustomize/v5", ("kustomize",))
KUBECONFORM = Tool("kubeconform", "github.com/yannh/kubeconform", ("kubeconform",))
HELM_CHECKED, KCL = "Helm SDK, checked", "KCL"

PEERS = {
    "Helm SDK": ("helm", "Go SDK in the process, a render and a file for each spec, no checks"),
    HELM_CHECKED: ("helm_checked", "the same, and kubeconform reads all objects by the schemas that Stowplan has"),
    KCL: ("kcl", "schemas with checks, an execution for 100 specs, a file of JSON for each"),
    "jrsonnet": ("jrsonnet", "an evaluation for 20 specs, a file of JSON for each, no checks"),
    "go-jsonnet": ("go_jsonnet", "the same"),
    "kustomize": ("kustomize", "a process for 10 overlays, a file for each object, no checks"),
    "cdk8s": ("cdk8s_app", "one App, ApiObject and JsonPatch, a file for each chart, no checks"),
}
"""Names, programs and notes."""

BUILT = {"kustomize": KUSTOMIZE, HELM_CHECKED: KUBECONFORM}
"""What is built with Go for a peer."""

COMPARED = 100
"""Up to so many specs the output is read again and compared."""


class Peers:
    """Those that are on this machine, with their templates below `folder`."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self._files, self._samples = folder / "files", folder / "samples"
        self._names = names
        self._built = {name: obtain(tool) for name, tool in BUILT.items() if name in names}

    def programs(self) -> list[Program]:
        """All that can be had; what cannot is said."""
        if not self._names:
            return []
        python = environment()
        if isinstance(python, str):
            sys.stderr.write(f"all peers are left out: {python}\n")
            return []
        self.prepare()
        return [self._program(name, python) for name in self._names if self._is_there(name)]

    def prepare(self) -> None:
        """Compiles the samples and makes templates of them."""
        workload.write(self._samples, templates.samples())
        ran = run(
            [programs.STOWPLAN, "synth", self._samples], 600, {"XDG_CACHE_HOME": str(self._files.with_name("cache"))}
        )
        if ran.code:
            sys.exit(f"stowplan ended with {ran.code}: {ran.output[-2000:]}")
        peer_files.write(self._files, templates.templates(self._samples / "out"))

    def compare(self, work: Work, name: str) -> None:
        """Ends the bench when a peer's output is not the same as ours; looks at few specs only."""
        if work.size <= COMPARED:
            words = templates.Words(self._samples / "out")
            compare(name, words, work.out(programs.SYNTH), work.out(name), work.specs)

    def _is_there(self, name: str) -> bool:
        built = self._built.get(name)
        if isinstance(built, Missing):
            sys.stderr.write(f"{name} is left out: {built}\n")
        return not isinstance(built, Missing)

    def _program(self, name: str, python: Path) -> Program:
        script, note = PEERS[name]
        return Program(name, self._command(name, script, python), note=note, peer=True)

    def _command(self, name: str, script: str, python: Path) -> Callable[[Work], Command]:
        built = self._built.get(name)
        more = [] if built is None or isinstance(built, Missing) else [*built.paths.values()]
        return lambda work: [python, HERE / f"{script}.py", self._files, work.repo, work.out(name), *more]


def _place() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    digest = hashlib.sha256(REQUIREMENTS.read_bytes() + sys.version.encode()).hexdigest()[:12]
    return cache / "stowplan" / "bench" / f"compile-{digest}"


def environment() -> Path | str:
    """The Python of an environment that holds the peers, made if there is none; or why it cannot be made."""
    place, uv = _place(), Path(sys.executable).with_name("uv")
    python = place / "bin" / "python"
    if not (place / READY).exists():
        try:
            subprocess.run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, place], check=True)
            command: Command = [uv, "pip", "sync", "--quiet", "--require-hashes", "--python", python, REQUIREMENTS]
            subprocess.run(command, check=True)
            (place / READY).touch()
        except (OSError, subprocess.CalledProcessError) as error:
            return str(error)
    return python
