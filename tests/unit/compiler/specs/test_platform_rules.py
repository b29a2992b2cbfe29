"""Values of the platform file are checked at their own position, not where a spec uses them."""

from pathlib import Path

import pytest

from stowplan.compiler.diagnostics.report import Diagnostic, Report
from tests.repositories import validated
from tests.unit.users import SPEC, laid_out

GIT = "https://git.example.com/ml/data.git"


def found(repo: Path, platform: str) -> list[Diagnostic]:
    """The errors of a repository with two specs."""
    laid_out(repo, platform=platform)
    (repo / "specs/other.yaml").write_text(SPEC.replace("name: imagenet", "name: speech"))
    report = Report()
    validated(repo, report)
    return [each for each in report.diagnostics if each.severity == "error"]


def amounts(requests: str, limits: str, memory: str = "1Gi", limit: str = "1Gi") -> str:
    return (
        f"resources: {{task: {{requests: {{cpu: '{requests}', memory: '{memory}'}},"
        f" limits: {{cpu: '{limits}', memory: '{limit}'}}}}}}"
    )


WRONG = [
    ("network: {egress: [{cidr: 10.0.0.0/33}]}", "SP206", "network.egress[0].cidr", "10.0.0.0/8"),
    ("network: {egress: [{cidr: 10.0.0.1}]}", "SP206", "network.egress[0].cidr", "10.0.0.1/32"),
    ("network: {egress: [{cidr: '2001:db8::1'}]}", "SP206", "network.egress[0].cidr", "2001:db8::1/128"),
    ("network: {egress: [{cidr: 10.1.2.3/8}]}", "SP206", "network.egress[0].cidr", "10.0.0.0/8"),
    ("network: {egress: [{cidr: everywhere}]}", "SP206", "network.egress[0].cidr", "10.0.0.0/8"),
    ("network: {egress: [{cidr: 10.0.0.0/255.0.0.0}]}", "SP206", "network.egress[0].cidr", "10.0.0.0/8"),
    ("images: {registry: 'https://registry.example.com/ml'}", "SP206", "images.registry", "registry.example.com/ml"),
    ("images: {registry: registry.example.com/ml/}", "SP206", "images.registry", "registry.example.com/ml"),
    ("images: {registry: registry.example.com/ML}", "SP206", "images.registry", "registry.example.com/ml"),
    ("images: {registry: ''}", "SP206", "images.registry", "registry.example.com/ml"),
    ("images: {registry: 'registry.example.com/ml:1.0'}", "SP206", "images.registry", "registry.example.com/ml"),
    ("images: {tag: 'my tag'}", "SP206", "images.tag", "letters"),
    ("images: {tag: ''}", "SP206", "images.tag", "letters"),
    ("images: {tag: ':1.0'}", "SP206", "images.tag", "letters"),
    ("argocd: {repoURL: ml/data}", "SP206", "argocd.repoURL", "https://"),
    ("argocd: {repoURL: 'https://'}", "SP206", "argocd.repoURL", "https://"),
    ("argocd: {repoURL: 'htps://git.example.com/a.git'}", "SP206", "argocd.repoURL", "https://"),
    ("argocd: {repoURL: ''}", "SP206", "argocd.repoURL", "https://"),
    ("argocd: {repoURL: 'https://git.example.com/a b'}", "SP206", "argocd.repoURL", "https://"),
    ("argocd: {repoURL: 'https://git.example.com'}", "SP206", "argocd.repoURL", "https://"),
    ("argocd: {repoURL: 'https://me:hunter2@git.example.com/a.git'}", "SP603", "argocd.repoURL", "argocd repo add"),
    ("argocd: {repoURL: 'https://ghp_hunter2@git.example.com/a.git'}", "SP603", "argocd.repoURL", "argocd repo add"),
    ("argocd: {repoURL: 'ssh://git:hunter2@git.example.com/a.git'}", "SP603", "argocd.repoURL", "argocd repo add"),
    (f"argocd: {{repoURL: '{GIT}', path: ../out}}", "SP405", "argocd.path", "relative"),
    (f"argocd: {{repoURL: '{GIT}', path: a/../out}}", "SP405", "argocd.path", "relative"),
    (f"argocd: {{repoURL: '{GIT}', path: /srv/out}}", "SP405", "argocd.path", "relative"),
    (f"argocd: {{repoURL: '{GIT}', path: ./out}}", "SP405", "argocd.path", "relative"),
    (f"argocd: {{repoURL: '{GIT}', path: 'a\\out'}}", "SP405", "argocd.path", "relative"),
    ("argocd: {targetRevision: 'a b'}", "SP206", "argocd.targetRevision", "branch"),
    ("argocd: {targetRevision: ''}", "SP206", "argocd.targetRevision", "branch"),
    ("argocd: {destination: {server: blue.example.com}}", "SP206", "argocd.destination.server", "https://"),
    ("argocd: {destination: {server: 'https://'}}", "SP206", "argocd.destination.server", "https://"),
    ("argocd: {destination: {server: 'https://a:hunter2@b.example.com'}}", "SP603", "argocd.destination.server", ""),
    ("argocd: {destination: {namespaces: [Team]}}", "SP206", "argocd.destination.namespaces[0]", "*"),
    ("argocd: {destination: {namespaces: [ml, 'a b']}}", "SP206", "argocd.destination.namespaces[1]", "*"),
    ("argocd: {destination: {namespaces: ['/^team-[0-9]+$/']}}", "SP206", "argocd.destination.namespaces[0]", "team-*"),
    ("argocd: {destination: {namespaces: ['*', '!*']}}", "SP206", "argocd.destination.namespaces[1]", "team-*"),
    ("juicefs: {csiDriver: csi_juicefs}", "SP206", "juicefs.csiDriver", "csi.juicefs.com"),
    ("paddle: {elasticServers: ['etcd://etcd.ml:2379']}", "SP206", "paddle.elasticServers[0]", "scheme"),
    (
        "paddle: {elasticServers: ['etcd.ml:2379', 'http://etcd.ml:2379']}",
        "SP206",
        "paddle.elasticServers[1]",
        "scheme",
    ),
    ("paddle: {elasticServers: [etcd.ml]}", "SP206", "paddle.elasticServers[0]", "etcd.ml:2379"),
    ("paddle: {elasticServers: ['etcd.ml:']}", "SP206", "paddle.elasticServers[0]", "etcd.ml:2379"),
    ("paddle: {elasticServers: [':2379']}", "SP206", "paddle.elasticServers[0]", "etcd.ml:2379"),
    ("paddle: {elasticServers: ['etcd.ml:0']}", "SP206", "paddle.elasticServers[0]", "etcd.ml:2379"),
    ("paddle: {elasticServers: ['etcd.ml:65536']}", "SP206", "paddle.elasticServers[0]", "etcd.ml:2379"),
    ("paddle: {elasticServers: ['etcd.ml:2379/v3']}", "SP206", "paddle.elasticServers[0]", "etcd.ml:2379"),
    ("paddle: {elasticServers: ['[::1]:2379']}", "SP206", "paddle.elasticServers[0]", "etcd.ml:2379"),
    ("engines: {scheduler: My_Scheduler}", "SP206", "engines.scheduler", "scheduler-plugins-scheduler"),
    ("paddle: {elasticServers: ['etcd:2379', etcd.ml]}", "SP206", "paddle.elasticServers[1]", "etcd.ml:2379"),
    ("paddle: {elasticServers: ['http://etcd.ml:2379']}", "SP206", "paddle.elasticServers[0]", "etcd.ml:2379"),
    ("paddle: {hostPorts: {first: 40001, last: 40000}}", "SP205", "paddle.hostPorts.last", "40001"),
    (amounts("x", "1").replace("task", "control"), "SP206", "resources.control.requests.cpu", "500m"),
    (amounts("1", "0.5"), "SP205", "resources.task.requests.cpu", "limit"),
    (amounts("1", "2", memory="2Gi"), "SP205", "resources.task.requests.memory", "limit"),
    (amounts("1", "2", memory="1GB"), "SP206", "resources.task.requests.memory", "1Gi"),
    (amounts("1", "lots"), "SP206", "resources.task.limits.cpu", "500m"),
    (amounts("-1", "2"), "SP205", "resources.task.requests.cpu", "0"),
]
RIGHT = [
    "network: {egress: [{cidr: 10.0.0.0/8}, {cidr: 192.0.2.1/32}, {cidr: '2001:db8::/32'}, {cidr: 0.0.0.0/0}]}",
    "images: {registry: 'localhost:5000', tag: v1.2_3-rc}",
    "images: {registry: registry.example.com:5000/ml/agents__x}",
    "images: {registry: 'me'}",
    "argocd: {repoURL: 'git@git.example.com:ml/data.git', path: .}",
    "argocd: {repoURL: 'ssh://git@git.example.com:2222/ml/data.git', path: a/b.c/out/}",
    "argocd: {repoURL: 'https://team@dev.azure.com/team/ml/_git/data', path: ''}",
    "argocd: {repoURL: 'http://127.0.0.1:8080/data', targetRevision: refs/heads/main}",
    "argocd: {repoURL: 'oci://registry.example.com/ml/data', targetRevision: 1.x}",
    "argocd: {repoURL: 'file:///srv/git/data'}",
    "argocd: {destination: {server: 'https://blue.example.com:6443', namespaces: ['*', 'team-*', '!kube-*', ml]}}",
    "argocd: {destination: {namespaces: ['team-[ab]', '{a,b}-?', '!{a,b}-x']}}",
    "juicefs: {csiDriver: csi.juicefs.example.com}",
    "paddle: {elasticServers: ['etcd.ml:2379', 'etcd-0.etcd.ml.svc.cluster.local:1', '192.0.2.7:65535']}",
    "engines: {scheduler: gangs.example.com}",
    "paddle: {elasticServers: ['etcd-0.etcd.ml.svc:2379', '10.0.0.1:2379'], hostPorts: {first: 40000, last: 40000}}",
    amounts("1000m", "1", memory="1024Mi", limit="1Gi"),
]


@pytest.mark.parametrize(("platform", "code", "path", "words"), WRONG)
def test_a_wrong_value_is_reported_once_at_its_line(
    tmp_path: Path, platform: str, code: str, path: str, words: str
) -> None:
    (error,) = found(tmp_path, platform)
    assert (error.code, error.location.file, error.field_path) == (code, "stowplan.yaml", path)
    assert words in error.message + error.hint
    assert "hunter2" not in error.message + error.hint


@pytest.mark.parametrize("platform", RIGHT)
def test_a_valid_value_is_accepted(tmp_path: Path, platform: str) -> None:
    assert found(tmp_path, platform) == []
