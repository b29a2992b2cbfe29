"""The reporter's cache of the API server's objects."""

import ast
import importlib
import inspect
import pkgutil
from functools import partial

from stowplan.agents.reporter import causes, outcome, rules
from stowplan.agents.reporter.objects import observed as observed_module
from stowplan.agents.reporter.objects import pods, resources, workloads
from stowplan.agents.reporter.objects.cache import ObjectCache
from stowplan.agents.reporter.objects.observed import of, present_run
from stowplan.agents.reporter.objects.workloads import Job, Key
from tests.unit.agents.reporter.given import NAMESPACE, Manifest, job, observed, pod, resource, time

KEY = ("PaddleJob", "it")


def made() -> tuple[ObjectCache[Job], list[Key]]:
    heard: list[Key] = []
    return ObjectCache(partial(workloads.job, namespace=NAMESPACE), heard.append), heard


def test_only_changes_are_reported() -> None:
    cache, heard = made()
    worker = job("PaddleJob", "worker")
    cache.put(worker)
    cache.put({**worker, "metadata": {**worker["metadata"], "resourceVersion": "8"}})
    assert heard == [KEY]
    cache.put({**worker, "spec": {**worker["spec"], "parallelism": 7}})
    assert [each.parallelism for each in cache.of(KEY)] == [7]
    cache.delete(worker)
    assert (cache.of(KEY), len(heard) >= 3) == ([], True)


def test_a_new_list_drops_missing_objects() -> None:
    cache, heard = made()
    old, new = job("PaddleJob", "worker"), job("PaddleJob", "ps")
    cache.put(old)
    cache.begin()
    cache.put(new)
    assert not cache.complete
    cache.end()
    assert [each.role for each in cache.of(KEY)] == ["ps"]
    heard.clear()
    cache.put(old)
    cache.begin()
    cache.put(new)
    cache.put(old)
    cache.end()
    assert len(cache.of(KEY)) == 2


def test_objects_of_another_namespaces_spec_are_left_out() -> None:
    cache, _ = made()
    foreign = job("SampleSet", "sync")
    foreign["metadata"]["labels"]["stowplan.dev/namespace"] = "elsewhere"
    cache.put(foreign)
    assert cache.of(("SampleSet", "it")) == []


def test_an_object_being_deleted_is_ignored() -> None:
    cache, _ = made()
    going = job("PaddleJob", "worker")
    cache.put(going)
    going = {**going, "metadata": {**going["metadata"], "deletionTimestamp": time(9)}}
    cache.put(going)
    assert cache.of(KEY) == []


def runs(*objects: Manifest) -> str:
    return present_run(observed("PaddleJob", resource("PaddleJob"), *objects)).name


def test_the_newest_run_counts() -> None:
    old, new = (
        job("PaddleJob", "worker", run="zzzzzzzz", minute=1),
        job("PaddleJob", "worker", run="aaaaaaaa", minute=2),
    )
    assert runs(old, new) == runs(new, old) == "aaaaaaaa"
    assert runs() == ""


def test_a_run_has_its_own_pods_alone() -> None:
    old, new = job("PaddleJob", "worker", run="zzzzzzzz"), job("PaddleJob", "worker")
    seen = observed("PaddleJob", resource("PaddleJob"), old, new, pod(old), pod(new))
    assert [each.job for each in of(seen, "zzzzzzzz").pods] == ["it-paddlejob-worker-zzzzzzzz"]


def test_partition_2_comes_before_partition_10() -> None:
    jobs = []
    for index in (10, 2):
        found = job("SampleJob", "warmup")
        found["metadata"] |= {"name": f"it-samplejob-{index}-abcdefgh", "uid": str(index)}
        jobs.append(found)
    seen = observed("SampleJob", resource("SampleJob"), *jobs)
    assert [each.name for each in of(seen, "abcdefgh").jobs] == ["it-samplejob-2-abcdefgh", "it-samplejob-10-abcdefgh"]


def test_rules_do_not_read_a_clock() -> None:
    """Times come from the objects: a wrong clock does no harm, and two reporters write the same."""
    judging = [observed_module, causes, outcome, pods, resources, workloads]
    judging += [
        importlib.import_module(each.name) for each in pkgutil.iter_modules(rules.__path__, f"{rules.__name__}.")
    ]
    assert len(judging) > 12
    for module in judging:
        imported = {
            name
            for node in ast.walk(ast.parse(inspect.getsource(module)))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""])
        }
        assert not imported & {"time", "datetime"}, module.__name__
