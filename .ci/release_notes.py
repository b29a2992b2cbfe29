"""The notes of a release: `python .ci/release_notes.py v1.2.3 [--source URL] [--registry NAME --digests FOLDER]`.

They are the newest section of CHANGELOG.md, which begins with `## 1.2.3 - 2026-01-31`. Unless the tag, `version` in
pyproject.toml and that heading agree, this fails in one line. Links to files become links below `--source`. The images
of the registry are listed at the end: `--digests` has a file for each, such as `cache`, which holds its digest.
"""

import argparse
import re
import sys
import tomllib
from pathlib import Path

_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_VERSION = r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?"
_BEGIN = re.compile(r"[-#|]|\d+\. |```| *- |$")
"""Lines that do not go on with the paragraph before them."""
_LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)\s]+)\)")


class DisagreementError(Exception):
    """Why there is no release."""


def notes(tag: str, root: Path) -> str:
    """Return the section of the changelog for a tag, as it stands there."""
    if not re.fullmatch(f"v{_VERSION}", tag):
        raise DisagreementError(f"The tag {tag!r} is no version: it has the form v1.2.3.")
    version = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    if tag != f"v{version}":
        raise DisagreementError(f"The tag is {tag}, but `version` in pyproject.toml is {version}.")
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = list(_HEADING.finditer(text))
    if not headings:
        raise DisagreementError("CHANGELOG.md has no section.")
    newest = headings[0][1]
    if not re.fullmatch(rf"{re.escape(version)} - \d{{4}}-\d{{2}}-\d{{2}}", newest):
        wanted = f"{version} - <year>-<month>-<day>"
        raise DisagreementError(f'The newest section of CHANGELOG.md is "{newest}", and must be "{wanted}".')
    end = headings[1].start() if len(headings) > 1 else len(text)
    section = text[headings[0].end() : end].strip()
    if not section:
        raise DisagreementError(f"The section {version} of CHANGELOG.md is empty.")
    return f"{section}\n"


def for_release_page(section: str, source: str) -> str:
    """Return the section as a release page shows it well: one line for each paragraph, links below `source`."""
    lines: list[str] = []
    for line in section.splitlines():
        if lines and lines[-1] and not lines[-1].startswith("#") and not _BEGIN.match(line):
            lines[-1] = f"{lines[-1]} {line.strip()}"
        else:
            lines.append(line)
    text = "".join(f"{line}\n" for line in lines)
    return _LINK.sub(rf"]({source.rstrip('/')}/\1)", text) if source else text


def images(registry: str, digests: Path) -> str:
    """Return the list of the images with their digests."""
    found = {file.name: file.read_text(encoding="utf-8").strip() for file in sorted(digests.iterdir())}
    lines = [f"- `{registry}/stowplan-{image}@{digest}`" for image, digest in found.items()]
    return "\n### Images\n\n" + "".join(f"{line}\n" for line in lines)


def main() -> int:
    """Print the notes, or say what disagrees."""
    parser = argparse.ArgumentParser(description="Print the notes of a release.")
    parser.add_argument("tag")
    parser.add_argument("--source", default="", metavar="URL")
    parser.add_argument("--registry", default="", metavar="NAME")
    parser.add_argument("--digests", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    try:
        section = notes(given.tag, Path(__file__).resolve().parents[1])
    except DisagreementError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(for_release_page(section, given.source))
    if given.digests:
        sys.stdout.write(images(given.registry, given.digests))
    return 0


if __name__ == "__main__":
    sys.exit(main())
