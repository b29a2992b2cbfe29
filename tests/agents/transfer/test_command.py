"""The program's output, its files and its secrets."""

import base64
import itertools
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.agents.transfer.agent import STATE, Cube, files
from tests.agents.transfer.faults import Fault, Proxy, with_keys
from tests.agents.transfer.server import ACCESS_KEY, DOMAIN, SECRET_KEY, Storage, new_bucket, serving
from tests.agents.waiting import until
from tests.cluster.certificates import Authority

TOKEN = "session/CANARY+token=="


def test_command_for_a_laptop(cube: Cube, storage: Storage) -> None:
    storage.put({"a": b"a"})
    config = cube.folder / "laptop.json"
    cube.claim.mkdir(exist_ok=True)
    config.write_text(json.dumps(cube.config(cube.remote(), {**cube.local(), "mountPath": "claim"})))
    program = Path(sys.executable).with_name("stowplan-transfer")
    environment = {
        "S3_ENDPOINT": storage.endpoint,
        "S3_ACCESS_KEY_ID": ACCESS_KEY,
        "S3_SECRET_ACCESS_KEY": SECRET_KEY,
    }
    command = [str(program), "--config", str(config), "--log-format", "text", "--allow-loopback"]
    done = subprocess.run(command, env=environment, cwd=cube.folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert files(cube.data) == {"a": b"a"}
    assert "INFO The destination holds every file of the source" in done.stderr


def test_soft_deadline(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    storage.put({f"{number:02}": b"x" for number in range(30)})
    asked = itertools.count()
    # Some come at once and the rest never do, so that no speed matters.
    proxy.rule = lambda request: Fault(seconds=60) if not request.is_listing and next(asked) >= 10 else None
    hasty = Cube(watched.folder, storage, proxy.url, {"softDeadlineSeconds": 4})
    ended = hasty.download()
    assert (ended.code, ended.last["reason"]) == (12, "SoftDeadline")
    there = len(files(hasty.data))
    assert 0 < there < 30
    before, proxy.rule = len(proxy.requests), None
    assert watched.download().code == 0
    assert sum(not each.is_listing for each in proxy.requests[before:]) <= 30 - there + 4


def test_second_writer_is_refused(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    storage.put({"a": b"a"})
    proxy.rule = lambda request: None if request.is_listing else Fault(seconds=60)
    with watched.started(watched.remote(), watched.local(), "first"):
        until(lambda: proxy.count("GET", "/a"))
        ended = Cube(watched.folder, storage).download(run="second")
        assert (ended.code, ended.last["reason"]) == (5, "Locked")
        assert "first" in ended.last["message"]
    proxy.rule = None
    assert watched.download(run="second").code == 0


def test_file_that_a_killed_program_of_another_machine_holds(cube: Cube, storage: Storage) -> None:
    """It beats no more, so the lock is taken after a while; here it does beat, so it is not."""
    storage.put({"a": b"a"})
    lock = cube.claim / STATE["lock"]
    lock.parent.mkdir(parents=True)
    lock.write_text(json.dumps({"holder": "elsewhere", "machine": f"not-{socket.gethostname()}"}))
    with cube.started(cube.remote(), cube.local()) as process:
        while process.poll() is None:
            lock.touch()
            time.sleep(0.2)
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 5
    assert "elsewhere" in json.loads(output.splitlines()[-1])["message"]


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"S3_ENDPOINT": "ftp://x"}, "S3_ENDPOINT"),
        ({"S3_ENDPOINT": "http://user:pass-word@host"}, "user or password"),
        ({"S3_SECRET_ACCESS_KEY": "two\nlines"}, "newline"),
    ],
)
def test_wrong_options(cube: Cube, changes: dict[str, str], part: str) -> None:
    with cube.started(cube.remote(), cube.local(), environment=changes) as process:
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 2, output
    assert part in json.loads(output)["message"]
    assert not any(secret in output for secret in ("pass-word", "two", "lines"))


def test_flow_between_stores(cube: Cube) -> None:
    ended = cube.run(cube.remote(), cube.remote("to"))
    assert ended.code == 2
    assert "s3 to s3" in ended.last["message"]


def test_claim_that_is_not_mounted(cube: Cube) -> None:
    local = {**cube.local(), "mountPath": str(cube.folder / "nowhere")}
    ended = cube.run(cube.remote(), local)
    assert (ended.code, ended.last["reason"]) == (4, "NoClaim")


def test_proxy_and_buckets_as_host_names(cube: Cube, storage: Storage, proxy: Proxy) -> None:
    """Only the proxy knows the way to the host."""
    storage.put({"a": b"a", "large": b"b" * 6_000_000})
    variables = {"S3_ENDPOINT": f"http://{DOMAIN}", "HTTP_PROXY": proxy.url, "http_proxy": proxy.url}
    for sides in ((cube.remote(pathStyle=False), cube.local()), (cube.local(), cube.remote("to", pathStyle=False))):
        with cube.started(*sides, environment=variables) as process:
            output, _ = process.communicate(timeout=60)
        assert process.returncode == 0, output
    assert {each.host for each in proxy.requests} == {f"{storage.bucket}.{DOMAIN}"}
    assert storage.read() == {
        f"{prefix}{key}": data for key, data in files(cube.data).items() for prefix in ("", "to/")
    }


def test_hosts_without_a_proxy(cube: Cube, storage: Storage, proxy: Proxy) -> None:
    storage.put({"a": b"a"})
    variables = {"HTTP_PROXY": proxy.url, "http_proxy": proxy.url, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    with cube.started(cube.remote(), cube.local(), environment=variables) as process:
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output
    assert proxy.requests == []


@pytest.mark.parametrize("trusted", [True, False])
def test_certificates_of_its_own(program: Path, tmp_path: Path, trusted: bool) -> None:  # noqa: FBT001 - a case
    authority = Authority.create(tmp_path / "authority")
    pair = authority.issue("s3")
    (tmp_path / "server").mkdir()
    with serving(program, tmp_path / "server", pair) as url:
        storage = new_bucket(url, authority.certificate)
        storage.put({"a": b"a"})
        options = {"caBundle": str(authority.certificate)} if trusted else {"requestRetries": 0}
        cube = Cube(tmp_path, storage, options=options)
        ended = cube.download()
        assert ended.code == (0 if trusted else 10), ended.output
        if trusted:
            ended = cube.upload("to")
            assert ended.code == 0, ended.output
            assert storage.read() == {"a": b"a", "to/a": b"a"}


def anonymous(cube: Cube) -> dict[str, Any]:
    """The S3 side without keys."""
    plain = cube.remote(anonymous=True)
    return {key: value for key, value in plain.items() if key not in ("accessKeyIdEnv", "secretAccessKeyEnv")}


def test_public_bucket_without_credentials(cube: Cube, storage: Storage) -> None:
    objects = {"a": b"a", "deep/b": b"b", "large": b"c" * 12_000_000}
    storage.put(objects)
    resources = [f"arn:aws:s3:::{storage.bucket}{end}" for end in ("", "/*")]
    actions = ["s3:GetObject", "s3:ListBucket"]
    statement = {"Effect": "Allow", "Principal": "*", "Action": actions, "Resource": resources}
    with storage.client() as client:
        client.call(
            "PUT", "", [("policy", "")], json.dumps({"Version": "2012-10-17", "Statement": [statement]}).encode()
        )
    ended = cube.run(anonymous(cube), cube.local())
    assert ended.code == 0, ended.output
    assert files(cube.data) == objects
    ended = cube.run(cube.local(), anonymous(cube) | {"uri": f"s3://{storage.bucket}/to/"})
    assert ended.code == 3, ended.output


def test_private_bucket_without_credentials(cube: Cube, storage: Storage) -> None:
    storage.put({"a": b"a"})
    ended = cube.run(anonymous(cube), cube.local())
    assert (ended.code, ended.last["reason"]) == (3, "AccessDenied")


def test_role_of_a_pod_is_no_account(cube: Cube) -> None:
    """Somebody may expect it; the message says what is needed."""
    plain = anonymous(cube) | {"anonymous": False}
    role = {"AWS_ROLE_ARN": "arn:aws:iam::1:role/x", "AWS_WEB_IDENTITY_TOKEN_FILE": "/var/run/token"}
    with cube.started(plain, cube.local(), environment=role) as process:
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "roles of pods and nodes are not used" in output


def test_secrets_stay_secret(watched: Cube, proxy: Proxy) -> None:
    """A server that repeats the secrets in all forms, on every way that leads to a log, a file or a command line."""
    forms = [SECRET_KEY, quote(SECRET_KEY, safe=""), quote(SECRET_KEY), TOKEN, quote(TOKEN, safe=""), ACCESS_KEY]
    forms += [base64.b64encode(f"{lead}{SECRET_KEY}:{TOKEN}".encode()).decode() for lead in ("", "u", "us", "usr")]
    body = f"<Error><Code>Teapot</Code><Message>{' '.join(forms).replace('&', '&amp;')}</Message></Error>".encode()
    listing = with_keys(b"<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>", ["a", "b"])
    proxy.rule = lambda request: Fault(200, listing) if request.is_listing else Fault(418, body)
    sides = watched.remote(sessionTokenEnv="S3_SESSION_TOKEN"), watched.local()
    seen = set()
    with watched.started(*sides, "run", {"S3_SESSION_TOKEN": TOKEN}) as process:
        while process.poll() is None:
            seen |= _command_lines()
        output, _ = process.communicate(timeout=60)
    assert process.returncode != 0
    kept = "".join(path.read_text(errors="replace") for path in watched.claim.rglob("*") if path.is_file())
    lines = " ".join(seen)
    assert "stowplan.agents.transfer" in lines
    for place in (output, kept, lines):
        for secret in (SECRET_KEY, TOKEN, ACCESS_KEY):
            assert secret not in place
            assert quote(secret, safe="") not in place
        for form in forms[-4:]:
            # Some characters at both ends depend on the neighbours of the secret.
            assert form[4:40] not in place
    assert "[redacted]" in output


def _command_lines() -> set[str]:
    """Of all processes of this machine but those of the tests' own server."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if "versitygw" not in line:
            found.add(line)
    return found


def test_secrets_are_in_the_environment_of_no_child(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    """There are no children at all."""
    storage.put({"a": b"a"})
    proxy.rule = lambda request: None if request.is_listing else Fault(seconds=1)
    children = set()
    with watched.started(watched.remote(), watched.local()) as process:
        while process.poll() is None:
            for path in Path(f"/proc/{process.pid}/task").glob("*/children"):
                children |= set(path.read_text().split()) if os.access(path, os.R_OK) else set()
            time.sleep(0.01)
    assert children == set()
