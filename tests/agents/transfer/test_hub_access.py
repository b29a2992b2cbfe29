"""Rights to read and write, messages about missing rights, and the hosts that get the token."""

import base64
import json
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.agents.transfer.agent import files
from tests.agents.transfer.faults import Fault, Proxy, Request
from tests.agents.transfer.hub_agent import HubCube
from tests.agents.transfer.hub_base import SIGNATURE, TOKEN
from tests.agents.transfer.hub_server import running
from tests.agents.transfer.reports import Reports
from tests.agents.transfer.test_command import _command_lines
from tests.agents.waiting import until
from tests.cluster.certificates import Authority

FORMS = [TOKEN, quote(TOKEN, safe=""), quote(TOKEN)]
FORMS += [base64.b64encode(f"{lead}{TOKEN}".encode()).decode()[4:36] for lead in ("", "u", "us")]


@pytest.fixture
def filled(repo: HubCube) -> HubCube:
    repo.hub.store.put(repo.repository, {"a.txt": b"a", "b.bin": b"b"})
    return repo


@pytest.mark.parametrize(
    ("token", "reader", "code", "reason", "part"),
    [
        (None, False, 3, "Gated", "give the option `token`"),
        ("TOKEN", False, 3, "Gated", "accept the conditions on"),
        ("TOKEN", True, 0, "Succeeded", ""),
    ],
)
def test_gated(filled: HubCube, token: str | None, reader: bool, code: int, reason: str, part: str) -> None:  # noqa: FBT001, PLR0917
    filled.repository.gated, filled.repository.writers = True, set()
    filled.repository.readers = {TOKEN} if reader else set()
    ended = filled.download(tokenEnv=token)
    assert (ended.code, ended.last["reason"]) == (code, reason), ended.output
    assert part in ended.last["message"]
    if code:
        assert f"{filled.endpoint}/owner/name" in ended.last["message"]


@pytest.mark.parametrize(
    ("token", "reader", "code", "part"),
    [
        (None, False, 4, "the option `token` is needed"),
        ("TOKEN", False, 4, "the token may not see it"),
        ("TOKEN", True, 0, ""),
    ],
)
def test_private(filled: HubCube, token: str | None, reader: bool, code: int, part: str) -> None:  # noqa: FBT001
    """The Hub tells strangers of a private repository what it tells them of one that is not there."""
    filled.repository.private, filled.repository.writers = True, set()
    filled.repository.readers = {TOKEN} if reader else set()
    ended = filled.download(tokenEnv=token)
    assert (ended.code, part in ended.last["message"]) == (code, True), ended.output
    assert ended.last["reason"] == ("RepositoryNotFound" if code else "Succeeded")


def test_invalid_token_is_refused(filled: HubCube) -> None:
    ended = filled.with_options(environment={"TOKEN": "hf_of-another-hub"}).download()
    assert (ended.code, ended.last["reason"]) == (3, "AccessDenied")
    assert "Invalid credentials" in ended.last["message"]


def test_token_of_the_usual_variable(filled: HubCube) -> None:
    filled.repository.private = True
    cube = filled.with_options(environment={"HF_TOKEN": f"{TOKEN}\n"})
    ended = cube.download(tokenEnv=None)
    assert ended.code == 0, ended.output


def test_token_in_the_home_of_a_person_is_not_taken(filled: HubCube) -> None:
    filled.repository.private = True
    place = filled.folder / ".cache" / "huggingface" / "token"
    place.parent.mkdir(parents=True)
    place.write_text(TOKEN)
    assert filled.download(tokenEnv=None).code == 4


def test_revision_that_is_not_there(filled: HubCube) -> None:
    ended = filled.with_options(environment={"REVISION": "gone"}).download(revisionEnv="REVISION")
    assert (ended.code, ended.last["reason"]) == (4, "RevisionNotFound")
    assert "gone" in ended.last["message"]


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"REPO": "not a repo"}, "must be a repository"),
        ({"HF_ENDPOINT": "ftp://x"}, "HF_ENDPOINT"),
        ({"HF_ENDPOINT": "http://user:pass-word@host"}, "user or password"),
        ({"TOKEN": "two\nlines"}, "newline"),
    ],
)
def test_wrong_options(filled: HubCube, changes: dict[str, str], part: str) -> None:
    ended = filled.with_options(environment=changes).download()
    assert (ended.code, part in ended.last["message"]) == (2, True), ended.output
    assert not any(secret in ended.output for secret in ("pass-word", "lines"))


def test_token_goes_to_no_other_host(filled: HubCube, hub_proxy: Proxy, tmp_path: Path) -> None:
    """A page of a listing that is said to be elsewhere; the storage of the tests looks at all else."""
    (tmp_path / "other").mkdir()
    with running(tmp_path / "other") as other:
        elsewhere = f'<{other.storage}/lfs/x?signature=>; rel="next"'.encode()

        def lead_away(request: Request) -> Fault | None:
            if "/tree/" not in request.path:
                return None
            return Fault(200, b"[]", {"Link": elsewhere.decode(), "Content-Type": "application/json"})

        hub_proxy.rule = lead_away
        ended = filled.with_options(requestRetries=0).download()
        assert (ended.code, ended.last["reason"]) == (5, "OtherHost"), ended.output
        assert other.seen == []


def test_server_that_leads_round_and_round(filled: HubCube, storage_proxy: Proxy) -> None:
    storage_proxy.rule = lambda request: Fault(302, headers={"Location": f"{storage_proxy.url}{request.path}"})
    ended = filled.with_options(requestRetries=0).download()
    assert (ended.code, ended.last["reason"]) == (10, "Redirects")


def test_proxy_of_the_environment(filled: HubCube, hub_proxy: Proxy) -> None:
    """Only the proxy knows the way to the host."""
    variables = {"HF_ENDPOINT": "http://hub.test", "HTTP_PROXY": hub_proxy.url, "http_proxy": hub_proxy.url}
    for name in ("NO_PROXY", "no_proxy"):
        variables[name] = "127.0.0.1"
    cube = filled.with_options(environment=variables)
    assert cube.download().code == 0
    assert files(filled.data)["b.bin"] == b"b"
    filled.write({"new.bin": b"new"})
    ended = cube.upload()
    assert ended.code == 0, ended.output
    assert filled.hub.store.read(filled.repository)["new.bin"] == b"new"
    assert {each.host for each in hub_proxy.requests} == {"hub.test"}


@pytest.mark.parametrize("flow", ["download", "upload"])
def test_secrets_stay_secret(filled: HubCube, hub_proxy: Proxy, reports: Reports, flow: str) -> None:
    """A server that repeats the token in all forms, in what leads to a log, a file or a command line."""
    said = " ".join([TOKEN, quote(TOKEN, safe=""), *(base64.b64encode(f"{lead}{TOKEN}".encode()).decode()
                     for lead in ("", "u", "us"))])  # fmt: skip
    end = "/commit/main" if flow == "upload" else "/a.txt"

    def repeat(request: Request) -> Fault | None:
        if not request.path.endswith(end):
            return Fault(seconds=0.1)
        return Fault(418, f'{{"error": "{said}"}}'.encode(), {"X-Error-Message": said, "X-HF-Warning": said})

    hub_proxy.rule = repeat
    filled.write({"new.bin": b"new" * 1000})
    sides = (filled.remote(), filled.local())
    seen, children = set(), set()
    variables, more = {"HF_DEBUG": "1", **reports.environment}, (reports.argument,)
    with filled.started(*(sides if flow == "download" else sides[::-1]), "run", variables, more) as process:
        while process.poll() is None:
            seen |= _command_lines()
            for path in Path(f"/proc/{process.pid}/task").glob("*/children"):
                # A thread may end meanwhile.
                with suppress(FileNotFoundError):
                    children |= set(path.read_text().split())
            time.sleep(0.02)
        output, _ = process.communicate(timeout=60)
    assert process.returncode != 0
    kept = "".join(path.read_text(errors="replace") for path in filled.folder.rglob("*") if path.is_file())
    lines = " ".join(seen)
    assert "stowplan.agents.transfer" in lines
    assert reports.status["attempt"]["exitCode"] == json.loads(reports.words)["exitCode"] == process.returncode
    for place in (output, kept, lines, *reports.patches, reports.words):
        for form in FORMS:
            assert form not in place
    assert all("[redacted]" in place for place in (output, reports.patches[-1], reports.words))
    assert children == set()


@pytest.mark.parametrize("flow", ["download", "upload"])
def test_signed_addresses_are_not_logged(filled: HubCube, storage_proxy: Proxy, reports: Reports, flow: str) -> None:
    """A storage that repeats the URL that it was asked for, and refuses it."""
    url = f"{storage_proxy.url}/x?X-Amz-Credential=CANARY1&X-Amz-Signature=CANARY2&token=CANARY3"
    body = f"<Error><Message>No: {url.replace('&', '&amp;')} {url}</Message></Error>".encode()
    storage_proxy.rule = lambda _: Fault(403, body, {"X-Error-Message": url, "X-HF-Warning": f"Use {url}"})
    filled.write({"new.bin": b"new" * 1000})
    cube = filled.with_options(requestRetries=0)
    sides = (cube.remote(), cube.local())
    with cube.started(
        *(sides if flow == "download" else sides[::-1]), "run", reports.environment, (reports.argument,)
    ) as process:
        output, _ = process.communicate(timeout=60)
    assert process.returncode != 0
    assert storage_proxy.requests
    kept = "".join(path.read_text(errors="replace") for path in cube.folder.rglob("*") if path.is_file())
    for place in (output, kept, *reports.patches, reports.words):
        assert "CANARY" not in place
        assert SIGNATURE not in place


def test_nothing_is_told_to_others_and_nothing_is_kept_in_the_home(filled: HubCube) -> None:
    filled.write({"new.bin": b"new"})
    assert filled.download(run="one").code == 0
    assert filled.upload(run="two").code == 0
    hosts = [each for each in filled.hub.seen if "telemetry" in each or "whoami" in each]
    assert hosts == []
    names = {path.name for path in filled.folder.iterdir()}
    assert names <= {"claim", "config.json"}
    assert not list(filled.folder.rglob("*token*"))


@pytest.mark.parametrize("trusted", [True, False])
def test_certificates_of_its_own(tmp_path: Path, trusted: bool) -> None:  # noqa: FBT001 - a case
    authority = Authority.create(tmp_path / "authority")
    for name in ("hub", "agent"):
        (tmp_path / name).mkdir()
    with running(tmp_path / "hub", authority.issue("hub")) as hub:
        repository = hub.store.make("owner/name", writers={TOKEN})
        hub.store.put(repository, {"a.txt": b"a", "b.bin": b"b"})
        options = {"caBundle": str(authority.certificate)} if trusted else {"requestRetries": 0}
        cube = HubCube(tmp_path / "agent", hub, repository, options=options)
        ended = cube.download()
        assert ended.code == (0 if trusted else 10), ended.output
        if trusted:
            cube.write({"new.bin": b"new"})
            ended = cube.upload()
            assert ended.code == 0, ended.output
            assert hub.store.read(repository)["new.bin"] == b"new"


def test_second_writer_is_refused(filled: HubCube, storage_proxy: Proxy) -> None:
    storage_proxy.rule = lambda _: Fault(seconds=60)
    with filled.started(filled.remote(), filled.local(), "first"):
        until(lambda: storage_proxy.requests)
        ended = filled.download(run="second")
        assert (ended.code, ended.last["reason"]) == (5, "Locked")
    storage_proxy.rule = None
    assert filled.download(run="second").code == 0
