"""Where the credentials of users go, and that they go nowhere else: who writes specs cannot ask for them.

| Credentials | May go to |
|---|---|
| the token of Hugging Face | huggingface.co; the server of `HF_ENDPOINT`; hosts of `--trust-host` |
| AWS keys, session tokens | S3 of AWS; the server of `AWS_ENDPOINT_URL[_S3]`; hosts of `--trust-host` |
| the password for a registry | that registry, and the server of tokens that it names |
| the password for a Git server | that server |
| the file `.netrc` | hosts that it names, by git alone |

None goes anywhere by plain http, but to this machine itself and then through no proxy.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.pins import registry
from tests.pins.recorder import Recorder, recording
from tests.pins.specs import cube, dataset, training
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


def in_netrc(home: Path, *machines: str) -> None:
    lines = (f"machine {each} login {registry.USER} password {registry.PASSWORD}\n" for each in machines)
    (home / ".netrc").write_text("".join(lines))


def image(host: str) -> None:
    training(f"{host}/ml/sft:1")


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
