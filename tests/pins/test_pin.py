"""`stowplan pin` against a real registry, Git over HTTP, the tests' Hub and a real S3 server."""

import json
import os
import stat
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socket import socket
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

import obstore
import pytest

from stowplan.schema.remotes.s3_listing import ListingHash
from tests.agents.transfer import hub_server, server
from tests.cluster import git_server
from tests.http_server import serving as serving_http
from tests.pins import registry, tokens
from tests.pins.specs import PLATFORM, dataset, lock, pinned, training
from tests.unit.users import run


@pytest.fixture(scope="module")
def registry_program() -> Path:
    """Found before the tests have homes and caches of their own."""
    return registry.needed()


@pytest.fixture(scope="module")
def store_program() -> Path:
    return server.needed()


@pytest.fixture
def open_registry(registry_program: Path, tmp_path: Path) -> Iterator[str]:
    (tmp_path / "registry").mkdir()
    with registry.serving(registry_program, tmp_path / "registry") as host:
        yield host


@pytest.fixture
def private_registry(registry_program: Path, tmp_path: Path) -> Iterator[str]:
    (tmp_path / "registry").mkdir()
    with registry.serving(registry_program, tmp_path / "registry", private=True) as host:
        yield host


def job() -> str:
    assert run("synth").exit_code == 0
    return "".join(path.read_text() for path in sorted(Path("out/ml/training-sft").glob("job-*.yaml")))


def test_tag_of_an_image_for_several_platforms_is_pinned_by_the_digest_of_its_index(open_registry: str) -> None:
    digest = registry.push(open_registry, "ml/sft", "1.9", platforms=("linux/amd64", "linux/arm64/v8"))
    image = f"{open_registry}/ml/sft:1.9"
    training(image)
    pinned()
    assert lock()["images"] == {image: {"digest": digest, "platforms": ["linux/amd64", "linux/arm64/v8"]}}
    assert f"image: {image}@{digest}" in job()


def test_check_changes_nothing_and_fails_once_a_tag_has_moved(open_registry: str) -> None:
    registry.push(open_registry, "ml/sft", "1.9")
    training(f"{open_registry}/ml/sft:1.9")
    pinned()
    before = Path("stowplan.lock").read_bytes()
    assert run("pin", "--check").exit_code == 0
    moved = registry.push(open_registry, "ml/sft", "1.9", text="2")
    found = run("pin", "--check")
    assert found.exit_code == 1
    assert moved.removeprefix("sha256:")[:12] in found.output
    assert Path("stowplan.lock").read_bytes() == before
    pinned()
    assert Path("stowplan.lock").read_bytes() == before, "only what was asked for moves"
    pinned("--update", "*/ml/sft:*")
    assert lock()["images"][f"{open_registry}/ml/sft:1.9"]["digest"] == moved


def test_check_fails_for_an_entry_that_is_missing_or_that_nothing_uses(open_registry: str) -> None:
    for tag in ("1", "2"):
        registry.push(open_registry, "ml/sft", tag)
    training(f"{open_registry}/ml/sft:1")
    assert run("pin", "--check").exit_code == 1
    assert not Path("stowplan.lock").exists()
    pinned()
    training(f"{open_registry}/ml/sft:2")
    assert run("pin", "--check").exit_code == 1
    pinned()
    assert list(lock()["images"]) == [f"{open_registry}/ml/sft:2"]


def test_comments_in_the_lock_file_stay(open_registry: str) -> None:
    for tag in ("1", "2"):
        registry.push(open_registry, "ml/sft", tag)
    training(f"{open_registry}/ml/sft:1")
    pinned()
    text = Path("stowplan.lock").read_text()
    Path("stowplan.lock").write_text(text.replace("images:\n", "# Approved by ML.\nimages:\n"))
    registry.push(open_registry, "ml/sft", "1", text="2")
    pinned("--all")
    assert "# Approved by ML.\nimages:\n" in Path("stowplan.lock").read_text()


def test_private_registry_takes_the_password_of_the_docker_config(private_registry: str, home: Path) -> None:
    digest = registry.push(private_registry, "ml/sft", "1")
    training(f"{private_registry}/ml/sft:1")
    refused = run("pin")
    assert refused.exit_code == 1
    assert "SP906" in refused.output
    assert "docker login" in refused.output
    assert not Path("stowplan.lock").exists()
    (home / ".docker").mkdir()
    (home / ".docker/config.json").write_text(json.dumps({"auths": {private_registry: {"auth": registry.login()}}}))
    found = pinned()
    assert lock()["images"][f"{private_registry}/ml/sft:1"]["digest"] == digest
    assert registry.PASSWORD not in found.output + Path("stowplan.lock").read_text()


@pytest.fixture
def token_registry(registry_program: Path, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """A registry that wants tokens, with the images `open/sft:1` and `ml/sft:1`; its host and their digest."""
    folder = tmp_path / "registry"
    folder.mkdir()
    with registry.serving(registry_program, folder) as host:
        digest = registry.push(host, "open/sft", "1")
        registry.push(host, "ml/sft", "1")
    with (
        tokens.serving(folder, registry.login()) as options,
        registry.serving(registry_program, folder, tokens=options) as host,
    ):
        yield host, digest


def test_registry_with_tokens_gives_one_for_a_public_image_without_a_password(token_registry: tuple[str, str]) -> None:
    host, digest = token_registry
    training(f"{host}/open/sft:1")
    pinned()
    assert lock()["images"][f"{host}/open/sft:1"]["digest"] == digest


def test_registry_with_tokens_gives_one_for_the_password_of_the_docker_config(
    token_registry: tuple[str, str], home: Path
) -> None:
    host, digest = token_registry
    training(f"{host}/ml/sft:1")
    assert "docker login" in run("pin").output
    (home / ".docker").mkdir()
    config = home / ".docker/config.json"
    config.write_text(json.dumps({"auths": {host: {"auth": b64encode(b"robot:wrong").decode()}}}))
    assert "docker login" in run("pin").output
    config.write_text(json.dumps({"auths": {host: {"auth": registry.login()}}}))
    found = pinned()
    assert lock()["images"][f"{host}/ml/sft:1"]["digest"] == digest
    assert registry.PASSWORD not in found.output + Path("stowplan.lock").read_text()


@pytest.mark.parametrize("number", range(6))
def test_file_that_a_variable_names_counts_before_those_of_docker_and_podman(
    private_registry: str, home: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Whatever the names of the files: each number is another one."""
    registry.push(private_registry, "ml/sft", "1")
    training(f"{private_registry}/ml/sft:1")
    right, wrong = registry.login(), b64encode(b"robot:wrong").decode()
    files = {home / ".docker/config.json": wrong, home / "runtime/containers/auth.json": wrong}
    for file, password in (files | {home / f"{number}.json": right}).items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"auths": {private_registry: {"auth": password}}}))
    monkeypatch.setenv("REGISTRY_AUTH_FILE", str(home / f"{number}.json"))
    pinned()


def test_credentials_that_cannot_be_read_are_reported(
    private_registry: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training(f"{private_registry}/ml/sft:1")
    (home / ".docker").mkdir()
    (home / "docker-credential-broken").mkdir()
    monkeypatch.setenv("PATH", f"{home}{os.pathsep}{os.environ['PATH']}")
    for content in ("{", '{"auths": []}', "[]", '{"credsStore": "broken"}'):
        (home / ".docker/config.json").write_text(content)
        found = run("pin")
        assert found.exit_code == 1
        assert "in ~/.docker/config.json cannot be read" in " ".join(found.output.split()).replace(str(home), "~")


def test_private_registry_takes_the_password_of_podman(private_registry: str, home: Path) -> None:
    digest = registry.push(private_registry, "ml/sft", "1")
    training(f"{private_registry}/ml/sft:1")
    (home / "runtime/containers").mkdir(parents=True)
    auths = {"auths": {private_registry: {"auth": registry.login()}}}
    (home / "runtime/containers/auth.json").write_text(json.dumps(auths))
    pinned()
    assert lock()["images"][f"{private_registry}/ml/sft:1"]["digest"] == digest


@pytest.mark.parametrize("name", ["", "/ml", "/ml/sft"])
def test_password_of_podman_may_be_for_a_part_of_a_registry(private_registry: str, home: Path, name: str) -> None:
    registry.push(private_registry, "ml/sft", "1")
    training(f"{private_registry}/ml/sft:1")
    (home / "runtime/containers").mkdir(parents=True)
    wrong = b64encode(b"robot:wrong").decode()
    auths = {f"{private_registry}{name}": registry.login(), f"{private_registry}/other": wrong}
    found = {"auths": {key: {"auth": each} for key, each in auths.items()}}
    (home / "runtime/containers/auth.json").write_text(json.dumps(found))
    pinned()


def test_private_registry_takes_the_password_of_a_credential_helper(
    private_registry: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = registry.push(private_registry, "ml/sft", "1")
    training(f"{private_registry}/ml/sft:1")
    helper = home / "bin/docker-credential-test"
    helper.parent.mkdir()
    answer = json.dumps({"ServerURL": private_registry, "Username": registry.USER, "Secret": registry.PASSWORD})
    helper.write_text(f"#!/bin/sh\ncat >/dev/null\necho '{answer}'\n")
    helper.chmod(helper.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{helper.parent}{os.pathsep}{os.environ['PATH']}")
    (home / ".docker").mkdir()
    (home / ".docker/config.json").write_text(json.dumps({"credHelpers": {private_registry: "test"}}))
    pinned()
    assert lock()["images"][f"{private_registry}/ml/sft:1"]["digest"] == digest


def test_registry_that_limits_the_rate_is_asked_again_after_the_time_that_it_names(open_registry: str) -> None:
    digest = registry.push(open_registry, "ml/sft", "1")
    seen: list[str] = []

    class Limiting(BaseHTTPRequestHandler):
        """Refuses the first two requests, and passes the others on."""

        def do_GET(self) -> None:
            seen.append(self.path)
            if len(seen) <= 2:
                self.send_response(429)
                self.send_header("Retry-After", "1")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            request = Request(f"http://{open_registry}{self.path}", headers={"Accept": self.headers["Accept"]})
            with urlopen(request) as answer:  # noqa: S310 - the test's own registry
                body = answer.read()
            self.send_response(200)
            self.send_header("Content-Type", answer.headers["Content-Type"])
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with serving_http(Limiting) as url:
        host = url.removeprefix("http://")
        training(f"{host}/ml/sft:1")
        pinned()
    assert len(seen) == 3
    assert lock()["images"][f"{host}/ml/sft:1"]["digest"] == digest


def test_tag_that_is_not_there_is_reported_at_its_line_and_the_others_are_not_lost(open_registry: str) -> None:
    registry.push(open_registry, "ml/sft", "1")
    training(f"{open_registry}/ml/sft:9")
    found = json.loads(run("pin", "--format", "json").stdout)
    [problem] = found["diagnostics"]
    assert (problem["code"], problem["file"], problem["line"]) == ("SP906", "specs/sft.yaml", 6)
    assert not Path("stowplan.lock").exists()


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.email=a@example.com", "-c", "user.name=A", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """A bare repository with one commit on `main`, and a tag with a message."""
    work = tmp_path / "work"
    work.mkdir()
    git(work, "init", "-q")
    (work / "train.py").write_text("print(1)\n")
    git(work, "add", "-A")
    git(work, "commit", "-qm", "Train for longer")
    git(work, "tag", "-m", "Release", "v1")
    served = tmp_path / "served"
    served.mkdir()
    git(served, "clone", "-q", "--bare", str(work), "code.git")
    git(served / "code.git", "config", "uploadpack.allowFilter", "true")
    return work


@pytest.mark.parametrize("ref", ["main", "v1", None])
def test_branch_and_tag_are_pinned_by_the_commit_with_its_subject(code: Path, tmp_path: Path, ref: str | None) -> None:
    commit = git(code, "rev-parse", "HEAD")
    with git_server.serving(tmp_path / "served") as url:
        where = f"url: {url}/code.git" + (f", ref: {ref}" if ref else "")
        dataset(f"{{git: {{{where}}}}}")
        pinned()
    [(key, pin)] = lock()["git"].items()
    assert key == f"{url}/code.git#{ref or 'HEAD'}"
    assert (pin["commit"], pin["subject"]) == (commit, "Train for longer")


def test_the_commit_of_a_signed_one_is_described_by_itself(code: Path, tmp_path: Path, home: Path) -> None:
    """A user may have Git show signatures wherever it shows a commit."""
    (home / "gpg").write_text("#!/bin/sh\necho 'gpg: no public key' >&2\n")
    (home / "gpg").chmod(0o755)
    (home / ".gitconfig").write_text(f"[log]\n\tshowSignature = true\n[gpg]\n\tprogram = {home}/gpg\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    signed = git(code, "cat-file", "commit", "HEAD").replace("\n\n", f"\n{signature}\n\n", 1)
    (code / "signed").write_text(signed + "\n")
    commit = git(code, "hash-object", "-t", "commit", "-w", "signed")
    git(code, "push", "-q", "../served/code.git", f"{commit}:refs/heads/signed")
    with git_server.serving(tmp_path / "served") as url:
        dataset(f"{{git: {{url: {url}/code.git, ref: signed}}}}")
        pinned()
    [pin] = lock()["git"].values()
    assert (pin["commit"], pin["subject"]) == (commit, "Train for longer")


def test_name_of_a_branch_and_a_tag_is_refused(code: Path, tmp_path: Path) -> None:
    """Who may push one of them would decide what the other one stands for."""
    tagged = git(code, "rev-parse", "v1^{commit}")
    git(code, "commit", "-q", "--allow-empty", "-m", "More")
    git(code, "push", "-q", "../served/code.git", "HEAD:refs/heads/v1")
    with git_server.serving(tmp_path / "served") as url:
        dataset(f"{{git: {{url: {url}/code.git, ref: v1}}}}")
        refused = run("pin")
        assert refused.exit_code == 1
        assert "`ref: refs/heads/v1` or `ref: refs/tags/v1`" in refused.output.replace("\n", " ")
        dataset(f"{{git: {{url: {url}/code.git, ref: refs/tags/v1}}}}")
        pinned()
    [pin] = lock()["git"].values()
    assert (pin["commit"], pin["subject"]) == (tagged, "Train for longer")


def test_repository_that_asks_for_a_password_is_refused_without_a_question(code: Path) -> None:
    class Private(BaseHTTPRequestHandler):
        """Wants a password."""

        def do_GET(self) -> None:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with serving_http(Private) as url:
        dataset(f"{{git: {{url: {url}/code.git, ref: main}}}}")
        found = run("pin")
    assert found.exit_code == 1
    assert "SP906" in found.output


def test_private_repository_takes_the_password_of_git(code: Path, tmp_path: Path, home: Path) -> None:
    commit = git(code, "rev-parse", "HEAD")
    (home / ".gitconfig").write_text("[credential]\n\thelper = store\n")

    class Private(BaseHTTPRequestHandler):
        """Passes on what comes with the password."""

        behind = ""

        def do_GET(self) -> None:
            self.answer(None)

        def do_POST(self) -> None:
            self.answer(self.rfile.read(int(self.headers["Content-Length"])))

        def answer(self, body: bytes | None) -> None:
            if self.headers.get("Authorization") != f"Basic {registry.login()}":
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="git"')
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            kept = ("Content-Type", "Git-Protocol", "Content-Encoding", "Accept")
            headers = {name: self.headers[name] for name in kept if self.headers.get(name)}
            request = Request(f"{self.behind}{self.path}", data=body, headers=headers)  # noqa: S310 - the test's own
            with urlopen(request) as found:  # noqa: S310
                content = found.read()
            self.send_response(200)
            self.send_header("Content-Type", found.headers["Content-Type"])
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with git_server.serving(tmp_path / "served") as behind, serving_http(Private) as url:
        Private.behind = behind
        host = url.removeprefix("http://")
        password = quote(registry.PASSWORD, safe="")
        (home / ".git-credentials").write_text(f"http://{registry.USER}:{password}@{host}\n")
        dataset(f"{{git: {{url: {url}/code.git, ref: main}}}}")
        found = pinned()
    assert lock()["git"][f"{url}/code.git#main"]["commit"] == commit
    assert registry.PASSWORD not in found.output + Path("stowplan.lock").read_text()


def test_repository_on_a_hub_is_pinned_by_its_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hub").mkdir()
    with hub_server.running(tmp_path / "hub") as hub:
        repository = hub.store.make("acme/c4", "dataset")
        commit = repository.commit({"a.txt": hub.store.entry("a.txt", b"1")}, "First")
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        dataset("{huggingface: {repo: acme/c4}}")
        pinned()
        assert lock()["huggingface"]["datasets/acme/c4@HEAD"]["commit"] == commit
        dataset("{huggingface: {repo: acme/missing}}")
        assert "SP906" in run("pin").output


def test_hub_that_is_not_there_is_reported_at_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        monkeypatch.setenv("HF_ENDPOINT", url)
        dataset("{huggingface: {repo: acme/c4}}")
        found = json.loads(run("pin", "--format", "json").stdout)
    [problem] = found["diagnostics"]
    assert (problem["code"], problem["file"], problem["line"]) == ("SP906", "specs/data.yaml", 5)
    assert problem["message"].endswith("The Hub cannot be asked for acme/c4: it does not answer.")


def test_prefix_of_a_store_is_pinned_by_the_hash_that_agents_compute(
    store_program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s3").mkdir()
    with server.serving(store_program, tmp_path / "s3") as endpoint:
        bucket = server.new_bucket(endpoint)
        bucket.put({"train/b": b"22", "train/a/c": b"1", "trainer": b"333"})
        dataset(f'{{s3: {{uri: "s3://{bucket.bucket}/train", endpoint: "{endpoint}"}}}}')
        assert "SP906" in run("pin").output
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", server.ACCESS_KEY)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", server.SECRET_KEY)
        monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
        found = pinned()
        listing = ListingHash()
        for key in ("a/c", "b"):
            there = obstore.head(bucket.store, f"train/{key}")
            listing.add(key, there["size"], there["e_tag"] or "")
        [(key, pin)] = lock()["s3"].items()
        assert key == f"s3://{bucket.bucket}/train/ {endpoint}"
        assert pin == {"listing": listing.revision, "objects": 2, "size": 3}
        assert server.SECRET_KEY not in found.output
        bucket.put({"train/d": b"4"})
        assert run("pin", "--check").exit_code == 1


def test_unknown_name_to_update_is_wrong_usage(open_registry: str) -> None:
    registry.push(open_registry, "ml/sft", "1")
    training(f"{open_registry}/ml/sft:1")
    assert run("pin", "--update", "nothing").exit_code == 2


def test_registry_of_the_tests_wants_its_password(private_registry: str) -> None:
    with pytest.raises(HTTPError):
        urlopen(f"http://{private_registry}/v2/")


def test_agents_and_images_of_one_environment_alone_are_pinned(open_registry: str) -> None:
    agents = ("cache", "control", "git", "transfer")
    digests = {agent: registry.push(open_registry, f"ml/stowplan-{agent}", "1.2", text=agent) for agent in agents}
    for tag in ("1", "2"):
        registry.push(open_registry, "ml/sft", tag)
    patch = f"{{target: {{kind: Training, name: sft}}, merge: {{spec: {{image: '{open_registry}/ml/sft:2'}}}}}}"
    Path("stowplan.yaml").write_text(
        f"{PLATFORM}images: {{registry: '{open_registry}/ml', tag: '1.2'}}\nenvironments:\n"
        f"- {{name: dev}}\n- {{name: prod, patches: [{patch}]}}\n"
    )
    training(f"{open_registry}/ml/sft:1")
    pinned()
    images = lock()["images"]
    assert {f"{open_registry}/ml/sft:{tag}" for tag in "12"} < images.keys()
    assert {agent: images[f"{open_registry}/ml/stowplan-{agent}:1.2"]["digest"] for agent in agents} == digests
    assert run("synth").exit_code == 0
    reporter = next(Path("out/prod").rglob("deployment-stowplan-reporter.yaml")).read_text()
    assert f"{open_registry}/ml/stowplan-control@{digests['control']}" in reporter
