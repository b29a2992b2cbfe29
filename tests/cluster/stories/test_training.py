"""Training jobs from their first sync to their end, as `kubectl get` and Argo CD show them.

Agents are real processes with the rights of their pods; users' training is played.
"""

from syrupy.assertion import SnapshotAssertion

from stowplan.library.engines.gang.kueue import PRIORITY, QUEUE
from tests.cluster.attendants import HOLD
from tests.cluster.client import Manifest, ref, true_conditions, wait_for
from tests.cluster.examples import examples
from tests.cluster.kueues import Kueue
from tests.cluster.queues import conditions, make_priorities, make_queue
from tests.cluster.stories.conftest import Begin, Compile
from tests.cluster.stories.story import Story
from tests.repositories import EXAMPLES

COLLECTIVE = """\
kind: Platform
defaultNamespace: story-collective
images: {{registry: registry.example.com/ml, tag: "1"}}
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {{name: bert}}
spec:
  worker:
    replicas: 2
    template:
      spec: {{containers: [{{name: paddle, image: "registry.example.com/ml/bert:{tag}"}}]}}
"""


def test_collective_paddle_job(begin: Begin, compile_specs: Compile, kept: SnapshotAssertion) -> None:
    """A worker runs out of memory; a new image mends it."""
    story = begin("story-collective")
    story.apply(compile_specs(COLLECTIVE.format(tag=1)))
    story.step("Both workers run", "PaddleJob", "bert", phase="Running", Complete="Running")
    run = story.status("PaddleJob", "bert")["run"]
    first, _ = story.users_pods("bert")
    story.patch_status(first, _out_of_memory(first))
    story.step("One worker used too much memory", "PaddleJob", "bert", phase="Failed", Failed="OOMKilled")
    story.apply(compile_specs(COLLECTIVE.format(tag=2)))
    story.step("The image was edited", "PaddleJob", "bert", phase="Running", observedGeneration=2)
    assert story.status("PaddleJob", "bert")["run"] != run
    story.end(story.users_pods("bert", run=story.status("PaddleJob", "bert")["run"]))
    story.step("Both workers are done", "PaddleJob", "bert", phase="Completed")
    assert story.told_by_now() == kept


def _out_of_memory(pod: Manifest) -> Manifest:
    ended = {"exitCode": 137, "reason": "OOMKilled", "finishedAt": "2026-01-01T00:00:00Z"}
    states = [{**each, "ready": False, "state": {"terminated": ended}} for each in pod["status"]["containerStatuses"]]
    return {"phase": "Failed", "containerStatuses": states}


def test_fault_tolerant_training_job(begin: Begin, kept: SnapshotAssertion) -> None:
    """The example: a trainer that is lost is started again without the others; master and servers end with them."""
    story = begin("speech")
    story.apply(examples()["trainingjob"]().manifests)
    story.step("All run", "TrainingJob", "word2vec", phase="Running", trainers="3/3", pservers="2/2")
    story.end(story.users_pods("smoke-test", "trainer"))
    story.step("The smoke test is done", "TrainingJob", "smoke-test", phase="Succeed")
    story.end(story.users_pods("word2vec", "trainer")[:1], exit_code=137)
    story.until(lambda: len(story.users_pods("word2vec", "trainer")) == 4, what="another trainer")
    story.step("A trainer was killed, and is there again", "TrainingJob", "word2vec", phase="Running", trainers="3/3")
    story.end(_running(story, "word2vec", "trainer"))
    story.step("The trainers are done", "TrainingJob", "word2vec", phase="Succeed")
    story.until(lambda: not _running(story, "word2vec", "pserver"), what="the end of the servers")
    assert [agent.process.returncode for agent in story.pods.of("await")] == [0, 0, 0]
    assert story.told_by_now() == kept


def _running(story: Story, name: str, role: str) -> list[Manifest]:
    return [each for each in story.users_pods(name, role) if each["status"].get("phase") == "Running"]


def test_elastic_training_job(kueue: Kueue, begin: Begin, kept: SnapshotAssertion) -> None:
    """The example with a real Kueue. Others have a part of the quota; a job of higher priority takes the rest."""
    admin = kueue.cluster.admin
    story = begin("speech", kueue.cluster)
    queue = make_queue(admin, story.namespace, 23, local="shared")
    make_priorities(admin)
    wait_for(lambda: "Active" in true_conditions(admin.get(queue)), what="a queue that admits")
    admin.apply(_other("other", 4))
    wait_for(lambda: "Admitted" in conditions(admin, _other("other", 4)), what="the admission of another job")
    manifests = examples()["elastic-kueue"]().manifests
    (servers,) = (each for each in manifests if each["kind"] == "JobSet")
    # Whichever Kueue looks at first is admitted first, and trainers take all that they can get.
    story.apply(each for each in manifests if each["kind"] != "Job")
    wait_for(lambda: "Admitted" in conditions(admin, servers), what="the admission of master and servers")
    story.apply(manifests)
    story.step("There is room for three trainers", "TrainingJob", "word2vec", phase="Running", trainers="3/3")
    admin.apply(_other("urgent", 12))
    evicted = {"Suspended": "Suspended", "trainers": "0/6", "fulfillment": "100%"}
    story.step("An urgent job took their place", "TrainingJob", "word2vec", **evicted)
    # One after the other: whoever is admitted while the first is there stays as small as it was then.
    for name in ("other", "urgent"):
        _finish(story, name)
    story.step("There is room for four", "TrainingJob", "word2vec", phase="Running", trainers="4/4", fulfillment="50%")
    story.end(_running(story, "word2vec", "trainer"))
    story.step("The trainers are done", "TrainingJob", "word2vec", phase="Succeed")
    story.until(lambda: not _running(story, "word2vec", "pserver"), what="the end of the servers")
    assert story.told_by_now() == kept


def _other(name: str, cpu: int) -> Manifest:
    """A Job of somebody else, which comes before ours and runs until it is told to end."""
    container = {"name": "main", "image": "local/none:1", "resources": {"requests": {"cpu": str(cpu)}}}
    pod = {"containers": [container], "restartPolicy": "Never"}
    job = ref("batch/v1", "Job", name, "speech")
    job["metadata"]["labels"] = {QUEUE: "shared", PRIORITY: "high"}
    return {**job, "spec": {"template": {"metadata": {"annotations": {HOLD: "true"}}, "spec": pod}}}


def _finish(story: Story, name: str) -> None:
    """The pod of a Job of somebody else ends well; then its part of the quota is free."""
    admin = story.cluster.admin

    def pods() -> list[Manifest]:
        found = admin.list("v1", "Pod", story.namespace, f"batch.kubernetes.io/job-name={name}")
        return [each for each in found if each["status"].get("phase") == "Running"]

    wait_for(pods, what=f"a pod of {name}")
    story.end(pods())
    job = ref("batch/v1", "Job", name, story.namespace)
    wait_for(lambda: "Finished" in conditions(admin, job), what=f"the end of {name}")


def test_distributed_mx_job(begin: Begin, compile_specs: Compile, kept: SnapshotAssertion) -> None:
    """The example: a worker fails for good, and the job with it, also its scheduler; a new image mends it."""
    story = begin("vision")
    story.apply(examples()["mxnet"]().manifests)
    story.step("All run", "MxJob", "cifar-dist", phase="Running")
    story.end(story.users_pods("cifar-local"))
    story.step("The local job is done", "MxJob", "cifar-local", phase="Done")
    story.end(story.users_pods("cifar-dist")[:1], exit_code=3)
    story.step("A worker failed", "MxJob", "cifar-dist", phase="Done", state="Failed")
    story.until(lambda: not _running(story, "cifar-dist", "server"), what="the end of the servers")
    assert {agent.process.returncode for agent in story.pods.of("await")} <= {1, 143}
    story.apply(compile_specs(_edited("mxnet", "cifar-dist", "mxnet:1.9", "mxnet:1.10")))
    story.step("The image was edited", "MxJob", "cifar-dist", phase="Running", observedGeneration=2)
    for role in ("scheduler", "worker"):
        story.end(_running(story, "cifar-dist", role))
    story.step("Scheduler and workers are done", "MxJob", "cifar-dist", phase="Done", state="Succeeded")
    story.until(lambda: not _running(story, "cifar-dist", "server"), what="the end of the servers")
    assert [agent.process.returncode for agent in story.pods.of("await")[-2:]] == [0, 0]
    assert story.told_by_now() == kept


def _edited(example: str, name: str, old: str, new: str) -> str:
    """An example in one text, with an edit in one of its files."""
    folder = EXAMPLES[example]
    texts = {path.stem: path.read_text(encoding="utf-8") for path in sorted((folder / "specs").iterdir())}
    assert old in texts[name]
    texts[name] = texts[name].replace(old, new)
    return "\n---\n".join([(folder / "stowplan.yaml").read_text(encoding="utf-8"), *texts.values()])
