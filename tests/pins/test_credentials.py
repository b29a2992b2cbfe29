"""Where the credentials of users go, and that they go nowhere else: who writes specs cannot ask for them.

| Credentials | May go to |
|---|---|
| the token of Hugging Face | huggingface.co; the server of `HF_ENDPOINT`; hosts of `--trust-host` |
| AWS keys, session tokens | S3 of AWS; the server of `AWS_ENDPOINT_URL[_S3]`; hosts of `--trust-host` |
| the password for a registry | that registry, and the server of tokens that it names |
| the password for a Git server | that server |
| the file `.netrc` | hosts that it names, by git alone |

None goes anywhere by plain http, but to this machine itself and then through no proxy.

Those of other commands and of agents, with their tests:

| Credentials | May go to | Test |
|---|---|---|
| the token of `comment` | `GITHUB_API_URL` or `CI_API_V4_URL` | `unit/compiler/comments/test_comment.py` |
| the token of a kubeconfig | the server that it names | `unit/compiler/live/test_resources.py` |
| the token of an agent's service account | the API server | `hostile/test_api_server.py` |
| S3 keys and session tokens of *transfer* | the endpoint of the spec | `hostile/s3/test_redirects.py` |
| the token for a Hub | the Hub of the spec | `agents/transfer/test_hub_{access,credentials}.py`, `hostile/hub` |
| the token of its Xet store | that store | `agents/transfer/test_hub_credentials.py` |
| the token for Git | the host of the spec | `agents/transfer/git/test_hostile.py`, `…/test_download.py` (submodules) |
| that token, for LFS | the same host | `agents/transfer/git/test_hostile.py`, `hostile/git/test_lfs_elsewhere.py` |
| keys of a source of *cache* | that source | `agents/cache/test_task_secrets.py` |
| keys of a volume | its bucket | the same |
| the password of a metadata engine | that engine | the same: neither source nor bucket hears it |
"""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.cluster.certificates import Authority
from tests.pins import registry
from tests.pins.specs import cube, dataset, training
from tests.recorder import Recorder, recording
from tests.unit.users import run

TOKEN = "hf_CANARYdQw4w9WgXcQ"
KEY, SECRET, SESSION = "AKCANARY0123456789AB", "sk-CANARY-secret", "session-CANARY-token"
OF_A_USER = {
    "HF_TOKEN": TOKEN,
    "AWS_ACCESS_KEY_ID": KEY,
    "AWS_SECRET_ACCESS_KEY": SECRET,
    "AWS_SESSION_TOKEN": SESSION,
}
ELSEWHERE = "http://elsewhere.example.com"


@pytest.fixture(autouse=True)
def _user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "500")
    for name, value in OF_A_USER.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    with recording() as found:
        yield found


def store(endpoint: str) -> None:
    dataset(f'{{s3: {{uri: "s3://bucket/train", endpoint: "{endpoint}"}}}}')


def refused(*arguments: str) -> str:
    """What the command says, which could pin nothing."""
    found = run("pin", *arguments)
    assert found.exit_code == 1
    assert "SP906" in found.output
    assert not [each for each in (TOKEN, KEY, SECRET, SESSION) if each in found.output]
    return " ".join(found.output.split())


@pytest.mark.parametrize(
    ("named", "variable", "secrets"),
    [
        (cube, "HF_ENDPOINT", (TOKEN,)),
        (store, "AWS_ENDPOINT_URL", (KEY, SESSION)),
        (store, "AWS_ENDPOINT_URL_S3", (KEY, SESSION)),
    ],
)
def test_server_that_only_a_spec_names_gets_no_credentials(
    recorder: Recorder,
    monkeypatch: pytest.MonkeyPatch,
    named: Callable[[str], None],
    variable: str,
    secrets: tuple[str, ...],
) -> None:
    named(recorder.url)
    said = refused()
    assert recorder.seen
    assert recorder.heard(*secrets) == []
    assert f"`--trust-host {recorder.host}` or the variable {variable.removesuffix('_S3')} allows it" in said
    refused("--trust-host", recorder.host)
    assert recorder.heard(*secrets, SECRET) == list(secrets)
    recorder.seen.clear()
    monkeypatch.setenv(variable, f"{recorder.url}/")
    refused()
    assert recorder.heard(*secrets, SECRET) == list(secrets)


@pytest.mark.parametrize(("named", "variable"), [(cube, "HF_ENDPOINT"), (store, "AWS_ENDPOINT_URL")])
@pytest.mark.parametrize("host", ["elsewhere.example.com", "127.0.0.1:1"])
def test_no_credentials_are_sent_in_the_open(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch, named: Callable[[str], None], variable: str, host: str
) -> None:
    """A proxy sees plain http to this machine too."""
    monkeypatch.setenv("http_proxy", recorder.url)
    named(f"http://{host}")
    monkeypatch.setenv(variable, f"http://{host}")
    said = refused()
    assert f"http://{host}" in recorder.seen[0]
    assert recorder.heard(TOKEN, KEY, SESSION) == []
    assert "by plain http" in said


@pytest.mark.parametrize("named", [cube, store])
def test_redirect_takes_no_credentials_along(recorder: Recorder, named: Callable[[str], None]) -> None:
    with recording() as trusted:
        trusted.location = recorder.url
        named(trusted.url)
        refused("--trust-host", trusted.host)
        assert trusted.heard(TOKEN, KEY)
        assert recorder.heard(TOKEN, KEY, SESSION) == []


@pytest.mark.parametrize("host", ["https://hub.example.com", "hub.example.com/x", "a b", ""])
def test_what_is_no_host_is_wrong_usage(host: str) -> None:
    found = run("pin", "--trust-host", host)
    assert found.exit_code == 2
    assert "is no host" in found.output


def left_by_docker(home: Path, host: str) -> None:
    (home / ".docker").mkdir()
    (home / ".docker/config.json").write_text(json.dumps({"auths": {host: {"auth": registry.login()}}}))


def left_to_git(home: Path, *hosts: str) -> None:
    """A password in a helper and in `.netrc`, for hosts that are asked by plain http."""
    user, password = registry.USER, quote(registry.PASSWORD, safe="")
    (home / ".gitconfig").write_text("[credential]\n\thelper = store\n")
    (home / ".git-credentials").write_text("".join(f"http://{user}:{password}@{each}\n" for each in hosts))
    in_netrc(home, *(each.partition(":")[0] for each in hosts))


def in_netrc(home: Path, *machines: str) -> None:
    lines = (f"machine {each} login {registry.USER} password {registry.PASSWORD}\n" for each in machines)
    (home / ".netrc").write_text("".join(lines))


def image(host: str) -> None:
    training(f"{host}/ml/sft:1")


def repository(url: str) -> None:
    dataset(f"{{git: {{url: {url}/code.git, ref: main}}}}")


def test_password_for_another_server_is_not_sent(
    recorder: Recorder, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs that ask the user are not run: some answer for every host."""
    left_by_docker(home, "registry.example.com")
    left_to_git(home, "git.example.com", "127.0.0.1:1")
    (home / ".netrc").unlink()
    (home / "ask").write_text(f"#!/bin/sh\necho {registry.PASSWORD}\n")
    (home / "ask").chmod(0o755)
    with (home / ".gitconfig").open("a") as file:
        file.write(f"[core]\n\taskPass = {home}/ask\n")
    for name in ("GIT_ASKPASS", "SSH_ASKPASS"):
        monkeypatch.setenv(name, f"{home}/ask")
    image(recorder.host)
    repository(recorder.url)
    refused()
    assert {each.split()[1].partition("?")[0] for each in recorder.seen} == {
        "/v2/ml/sft/manifests/1",
        "/code.git/info/refs",
    }
    assert not any("Authorization" in each for each in recorder.seen)


def test_redirect_takes_no_password_along(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = Authority.create(home / "authority").issue("forge")
    monkeypatch.setenv("GIT_SSL_CAINFO", str(home / "authority/ca.crt"))
    with recording() as images, recording(pair) as forge, recording(pair) as other, recording() as another:
        (images.location, forge.location), images.asks_first = (another.url, other.url), True
        forge.asks_first = True
        left_by_docker(home, images.host)
        left_to_git(home, forge.host)
        (home / ".netrc").unlink()
        stored = (home / ".git-credentials").read_text()
        (home / ".git-credentials").write_text(stored.replace("http://", "https://"))
        image(images.host)
        repository(forge.url)
        refused()
        for asked, led_to in ((images, another), (forge, other)):
            assert asked.heard(registry.login())
            assert led_to.seen
            assert led_to.heard(registry.login()) == []


def test_registry_gets_no_password_of_netrc(recorder: Recorder, home: Path) -> None:
    with recording() as other:
        recorder.location = other.url
        in_netrc(home, "127.0.0.1")
        image(recorder.host)
        refused()
        assert len(other.seen) == 1
        assert (recorder.heard(registry.login()), other.heard(registry.login())) == ([], [])


def test_password_goes_to_no_server_of_tokens_in_the_open(
    recorder: Recorder, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", recorder.url)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with recording() as asked:
        asked.challenge = f'Bearer realm="{ELSEWHERE}/token",service="registry"'
        left_by_docker(home, asked.host)
        image(asked.host)
        said = refused()
    assert recorder.seen == []
    assert "leads to elsewhere.example.com by plain http" in said


def test_passwords_for_this_machine_go_through_no_proxy(
    recorder: Recorder, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", recorder.url)
    with recording() as asked:
        left_by_docker(home, asked.host)
        left_to_git(home, asked.host)
        image(asked.host)
        repository(asked.url)
        refused()
        assert {"ml/sft", "code.git"} == {each for each in ("ml/sft", "code.git") if asked.heard(each)}
        assert asked.heard(registry.login())
    assert recorder.seen == []


def test_git_gets_no_password_in_the_open(recorder: Recorder, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", recorder.url)
    left_to_git(home, "elsewhere.example.com")
    with (home / ".gitconfig").open("a") as file:
        file.write(f'[http "{ELSEWHERE}"]\n\textraHeader = X-Password: {registry.login()}\n')
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "http.extraHeader")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", f"X-Too: {registry.login()}")
    repository(ELSEWHERE)
    said = refused()
    assert f"GET {ELSEWHERE}/code.git" in recorder.seen[0]
    assert recorder.heard(registry.login()) == []
    assert "no password is sent by plain http" in said


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_git_follows_nobody_into_the_open(
    recorder: Recorder, home: Path, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    authority = Authority.create(home / "authority")
    monkeypatch.setenv("GIT_SSL_CAINFO", str(authority.certificate))
    monkeypatch.setenv("http_proxy", recorder.url)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    left_to_git(home, "elsewhere.example.com")
    with recording(authority.issue("forge") if scheme == "https" else None) as asked:
        asked.location = ELSEWHERE
        repository(asked.url)
        refused()
        assert asked.seen
    assert recorder.seen == []


@pytest.mark.parametrize("work_tree", [True, False])
def test_folder_of_a_branch_does_not_configure_git(
    recorder: Recorder,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    work_tree: bool,  # noqa: FBT001
) -> None:
    """Git takes a folder with these names for a bare repository, and a branch may have one."""
    if work_tree:
        subprocess.run(["git", "init", "-q", home / "repo"], check=True)
    repository(recorder.url)
    folder = home / "repo/specs/bare"
    for name in ("objects", "refs"):
        (folder / name).mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "config").write_text(f'[credential]\n\thelper = "!touch {home}/owned; :"\n')
    monkeypatch.chdir(folder)
    assert run("pin", "../..").exit_code == 1
    assert not (home / "owned").exists()
