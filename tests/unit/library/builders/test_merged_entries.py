"""Repeated entries of a container: where the old operator's patch merged them, the last one is kept."""

from pathlib import Path

from tests.repositories import Result, compiled

_JOB = """\
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {{name: a}}
spec: {{worker: {{replicas: 1, template: {{spec: {spec}}}}}}}
"""


def _compile(folder: Path, spec: str) -> Result:
    return compiled(folder, {"a.yaml": _JOB.format(spec=spec)})


def test_the_last_of_equal_entries_is_kept(tmp_path: Path) -> None:
    lists = (
        "env: [{name: A, value: '1'}, {name: A, value: '2'}]",
        "ports: [{containerPort: 1}, {containerPort: 1, protocol: TCP, name: one}]",
        "volumeMounts: [{name: v, mountPath: /a}, {name: v, mountPath: /a, readOnly: true}]",
    )
    first, main = (f"{{name: {name}, image: a, {', '.join(lists)}}}" for name in ("first", "main"))
    result = _compile(
        tmp_path,
        f"{{initContainers: [{first}], containers: [{main}], volumes: [{{name: v, emptyDir: {{}}}}]}}",
    )
    assert result.errors == []
    assert [found.code for found in result.diagnostics].count("SP436") == 6
    (job,) = (output.manifest.body for output in result.outputs if output.manifest.kind == "Job")
    pod = job["spec"]["template"]["spec"]
    for made in (*pod["initContainers"], *pod["containers"]):
        assert [each["value"] for each in made["env"] if each["name"] == "A"] == ["2"]
        assert made["ports"] == [{"containerPort": 1, "protocol": "TCP", "name": "one"}]
        assert made["volumeMounts"] == [{"name": "v", "mountPath": "/a", "readOnly": True}]


def test_entries_that_the_old_operator_did_not_merge_are_refused(tmp_path: Path) -> None:
    result = _compile(
        tmp_path, "{containers: [{name: main, image: a}], volumes: [{name: v, emptyDir: {}}, {name: v, emptyDir: {}}]}"
    )
    assert [found.code for found in result.errors] == ["SP213"]
