"""A machine of a CI service, which runs the steps of a job as its service does.

An installation of Stowplan is made by the job's own `pip install`; its dependencies are those of the tests. Of the
actions, uploads and downloads of artifacts are played by a copy, and all others are left out.
"""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.starter.repository import PROGRAMS, StarterRepository

BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")
"""As GitHub runs a step of `shell: bash`; GitLab stops at the first error as well."""


@dataclass(frozen=True)
class Installations:
    """What the install steps of the jobs install, each once: into a folder of its own below `root`."""

    root: Path
    """Has the build tools in `tools`, and in `wheels` this version of Stowplan, as a package index would have it."""
    done: dict[str, Path] = field(default_factory=dict)

    @property
    def requirement(self) -> str:
        """The wheel as `requirements/stowplan.txt` names it, once a person has written its hash there."""
        (wheel,) = (self.root / "wheels").iterdir()
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        return f"stowplan=={wheel.name.split('-')[1]} --hash=sha256:{digest}\n"

    def install(self, step: str, folder: Path, target: Path, variables: Mapping[str, str]) -> int:
        """Run an install step in a folder; its exit code."""
        pip = {"FIND_LINKS": self.root / "wheels", "NO_INDEX": 1, "TARGET": target}
        own = {f"PIP_{name}": str(value) for name, value in pip.items()}
        path = {"PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(self.root / "tools")}
        environment = {**os.environ, **own, **path, **variables}
        return subprocess.run([*BASH, step], cwd=folder, env=environment, check=False).returncode

    def environment(self, step: str, folder: Path, variables: Mapping[str, str]) -> dict[str, str]:
        """The environment of a machine after an install step."""
        if step not in self.done:
            self.done[step] = self.root / f"site-{len(self.done)}"
            assert self.install(step, folder, self.done[step], variables) == 0
        site = self.done[step]
        return {
            "PYTHONPATH": str(site),
            "PATH": os.pathsep.join(map(str, (site / "bin", PROGRAMS, os.environ["PATH"]))),
        }


@dataclass(frozen=True)
class Job:
    """The steps of a job, as GitHub has them, and the variables of all of them."""

    steps: list[dict[str, Any]]
    environment: Mapping[str, str] = field(default_factory=dict)


def github_job(file: Path, name: str) -> Job:
    """A job of a workflow of GitHub."""
    workflow = load(file)
    return Job(workflow["jobs"][name]["steps"], workflow.get("env", {}))


def gitlab_job(file: Path, name: str) -> Job:
    """A job of GitLab, which runs in one shell what it installs nothing by."""
    whole = load(file)
    base = whole.get(whole[name].get("extends"), {})
    lines = [*base.get("before_script", ()), *whole[name]["script"]]
    variables = {**whole.get("variables", {}), **whole[name].get("variables", {})}
    installing = [{"run": line} for line in lines if line.startswith("pip install ")]
    rest = "\n".join(line for line in lines if not line.startswith("pip install "))
    return Job([*installing, {"run": rest}], variables)


@dataclass(frozen=True)
class Runner:
    """The machine of a CI service, with a clone of a repository."""

    repo: StarterRepository
    installations: Installations

    @property
    def temp(self) -> Path:
        """The folder of the machine for one job."""
        return self.repo.root.parent / "temp"

    def run(
        self, job: Job, context: Mapping[str, str], programs: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run the steps until one fails; the last one that ran, with the output of all.

        `context` has the variables of the service, and the values of its expressions. Commands in the folder `programs`
        are found before those that are installed.
        """
        shutil.rmtree(self.temp, ignore_errors=True)
        self.temp.mkdir()
        known = {"RUNNER_TEMP": str(self.temp), "runner.temp": str(self.temp), **context}
        variables = {name: expanded(value, context) for name, value in job.environment.items()}
        known |= {f"env.{name}": value for name, value in variables.items()}
        machine: dict[str, str] = {}
        done, said = None, ""
        for step in (each for each in job.steps if holds(each.get("if", ""), known)):
            own = {name: filled(str(value), known) for name, value in step.get("env", {}).items()}
            command = step.get("run", "")
            if not command:
                self._play(step, known)
            elif command.startswith("pip install --require-hashes "):
                continue
            elif command.startswith("pip install "):
                machine = self.installations.environment(command, self.repo.root, own)
                if programs:
                    machine["PATH"] = f"{programs}{os.pathsep}{machine['PATH']}"
            else:
                environment = {"CI": "true"} | machine | variables | own | plain(known)
                done = self.repo.run(*BASH, command, environment=environment)
                said += done.stdout
                if done.returncode:
                    break
        assert done
        done.stdout = said
        return done

    def _play(self, step: Mapping[str, Any], known: Mapping[str, str]) -> None:
        """Copy an artifact to or from the folder where the service keeps them."""
        if "-artifact@" not in step["uses"]:
            return
        given, kept = step["with"], self.repo.root.parent / "artifacts"
        path = Path(filled(given["path"], known))
        if given.get("archive") is False:
            # One file, whose name is that of the artifact.
            kept.mkdir(exist_ok=True)
            shutil.copy(path, kept)
            return
        named = kept / given["name"]
        source, target = (path, named) if "upload-" in step["uses"] else (named, path)
        if source.exists():
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source, target)


def filled(text: str, known: Mapping[str, str]) -> str:
    """A value with the expressions in it replaced, as the service does it before a step runs: by nothing if unknown."""
    return re.sub(r"\$\{\{ *([\w.]+) *\}\}", lambda found: known.get(found[1], ""), text)


def expanded(text: str, known: Mapping[str, str]) -> str:
    """A variable of a job of GitLab, which may name others."""
    return re.sub(r"\$(\w+)", lambda found: known.get(found[1], ""), str(text))


def plain(known: Mapping[str, str]) -> dict[str, str]:
    """What of a context is an environment variable."""
    return {name: value for name, value in known.items() if "." not in name}


def holds(condition: str, known: Mapping[str, str]) -> bool:
    """Whether the condition of a step holds: comparisons of values with texts."""
    for part in condition.split(" && ") if condition else ():
        found = re.fullmatch(r"([\w.]+) (==|!=) '([^']*)'", part)
        assert found, f"a condition that these tests cannot judge: {condition}"
        if (known.get(found[1], "") == found[3]) is not (found[2] == "=="):
            return False
    return True


def load(file: Path) -> Any:
    """A YAML file."""
    return YAML(typ="safe").load(file)
