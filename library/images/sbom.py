"""Bills of materials of the images, as CycloneDX: what each holds in addition to its base.

`python library/images/sbom.py FOLDER` writes `stowplan-<image>.cdx.json` there for each image. The same requirements
give the same bytes: no dates, no serial numbers.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

IMAGES = Path(__file__).parent
ROOT = IMAGES.parents[1]
BIN = Path(sys.executable).parent
REQUIREMENTS = {
    "cache": "control",
    "compiler": "compiler",
    "control": "control",
    "git": "control",
    "transfer": "transfer",
}
"""By image, the file of requirements that it is made of."""

Json = dict[str, Any]


def write(folder: Path) -> None:
    """Writes the bills of all images."""
    folder.mkdir(parents=True, exist_ok=True)
    packages = {group: _packages(group) for group in sorted(set(REQUIREMENTS.values()))}
    for image, group in REQUIREMENTS.items():
        text = json.dumps(_bill(image, packages[group]), indent=2, sort_keys=True, ensure_ascii=False)
        if error := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
            raise ValueError(f"The bill of {image} is no CycloneDX: {error}")
        (folder / f"stowplan-{image}.cdx.json").write_text(f"{text}\n", encoding="utf-8")


def _packages(group: str) -> str:
    """The bill of an environment with nothing but these requirements, and with Stowplan as its main component."""
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "bin" / "python"
        _run("uv", "venv", "--quiet", "--python", sys.executable, folder)
        install = (
            "uv",
            "pip",
            "install",
            "--quiet",
            "--python",
            str(python),
            "--require-hashes",
            "--only-binary=:all:",
        )
        _run(*install, "--requirements", str(IMAGES / f"requirements-{group}.txt"))
        bill = (
            "cyclonedx-py",
            "environment",
            "--output-reproducible",
            "--spec-version=1.6",
            "--pyproject=pyproject.toml",
        )
        return _run(*bill, str(python))


def _run(program: str, *arguments: str) -> str:
    command = [str(BIN / program), *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603


def _bill(image: str, packages: str) -> Json:
    """The image takes the place of the main component, which becomes one of those that the image holds."""
    bill: Json = json.loads(packages)
    project = bill["metadata"]["component"]
    container = {"bom-ref": "image", "type": "container", "name": f"stowplan-{image}", "version": project["version"]}
    bill["metadata"]["component"] = container
    bill["components"] += [project, *_programs(image)]
    held = sorted(each["bom-ref"] for each in bill["components"])
    bill["dependencies"].append({"ref": "image", "dependsOn": held})
    return bill


def _programs(image: str) -> list[Json]:
    """What the image holds that pip did not bring."""
    if image == "cache":
        return [
            _program("juicefs", "Apache-2.0", version=client_version(), purl="pkg:golang/github.com/juicedata/juicefs")
        ]
    # Of the versions that the base's distribution has: the image's own list of Debian packages tells them.
    return [_program("git", "GPL-2.0-only")] if image in ("compiler", "git") else []


def _program(name: str, licence: str, *, version: str | None = None, purl: str | None = None) -> Json:
    program: Json = {"bom-ref": name, "type": "application", "name": name, "licenses": [{"license": {"id": licence}}]}
    if version:
        program["version"] = version
    if purl:
        program["purl"] = f"{purl}@v{version}"
    return program


def client_version() -> str:
    """The version of the client of JuiceFS that the image has by default, and that the Containerfile builds."""
    text = (IMAGES / "juicefs" / "go.mod").read_text(encoding="utf-8")
    found = re.search(r"^\s*github\.com/juicedata/juicefs v(\S+)", text, re.MULTILINE)
    if found is None:
        raise ValueError("juicefs/go.mod requires no client of JuiceFS")
    return found[1]


if __name__ == "__main__":
    write(Path(sys.argv[1]))
