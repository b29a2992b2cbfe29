"""The checks of the starter's CI say what an older version of Stowplan wrote into a repository."""

import pytest

from stowplan.compiler.generate.starter.ci_files import Ci
from stowplan.compiler.generate.starter.stamp import line_of, stamped
from tests.starter.service import PROVIDERS, Machine, Service

DEPENDENCIES, HOOKS = "requirements/stowplan-dependencies.txt", ".pre-commit-config.yaml"
CI_FILES = {"github": ".github/workflows/stowplan.yaml", "gitlab": ".gitlab-ci.yml"}
STEP = "stowplan init --upgrade --check"
OLDER = stamped("# What an older version wrote.\n")


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("ci", Ci)
def test_files_of_an_older_version_fail_until_one_command_has_renewed_them(
    service: Service, ci: Ci, provider: str
) -> None:
    """As after a request that changes the version in `requirements/` alone."""
    assert service.ci is ci
    wanted = {path: (service.author.root / path).read_text() for path in (DEPENDENCIES, HOOKS)}
    for path in wanted:
        service.write(path, OLDER)
    service.commit("Take another Stowplan")
    done = service.check(provider, Machine())
    assert done.returncode == 1
    assert {f"older {path}" for path in wanted} <= set(done.stdout.splitlines())
    assert "run `stowplan init --upgrade`, and commit what it writes." in done.stdout

    service.author.must("stowplan", "init", "--upgrade")
    assert {path: (service.author.root / path).read_text() for path in wanted} == wanted
    service.commit("Renew what it wrote")
    done = service.check(provider, Machine())
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("version", ["this", "older"])
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("ci", Ci)
def test_what_a_person_has_edited_does_not_fail(service: Service, ci: Ci, provider: str, version: str) -> None:
    """A check that no command can turn green would be switched off."""
    assert service.ci is ci
    path = CI_FILES[provider]
    text = (service.author.root / path).read_text()
    edited = text.replace('FAIL_ON: ""', 'FAIL_ON: ""  # None of them.')
    service.write(path, edited if version == "this" else edited.replace(line_of(text), line_of(OLDER)))
    service.commit("Edit it")
    done = service.check(provider, Machine())
    assert done.returncode == 0, done.stdout
    assert (f"edited {path}: it stays. Merge by hand" in done.stdout) == (version == "older")


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("ci", Ci)
def test_ci_without_the_step_gets_it(service: Service, ci: Ci, provider: str) -> None:
    assert service.ci is ci
    path = CI_FILES[provider]
    text = (service.author.root / path).read_text()
    (line,) = [each for each in text.splitlines() if STEP in each]
    service.write(path, stamped(text.replace(f"{line}\n", "").replace(f"{line_of(text)}\n", "")))
    assert f"+{line}\n" in service.author.must("stowplan", "init", "--upgrade")
    assert (service.author.root / path).read_text() == text
