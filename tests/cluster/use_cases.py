"""Training jobs of many shapes, compiled for every pair of engines, and their requirements of a cluster."""

from collections.abc import Callable
from functools import partial
from itertools import product

from tests.cluster.client import Manifest, ref
from tests.cluster.examples import Example, compile_example

JOB_ENGINES = ("core", "jobset")
GANG_ENGINES = ("none", "volcano", "coscheduling", "kueue")
_QUEUES = {"volcano": "default"}
"""The queue of the jobs, where it is not `training`."""

_PLATFORM = """\
defaultNamespace: {home}
images: {{registry: registry.example.com/ml, tag: "1"}}
argocd: {{repoURL: https://git.example.com/ml/training.git}}
juicefs: {{cacheSize: 1024}}
paddle: {{elasticServers: ["etcd.{home}:2379"]}}
engines: {{jobs: {jobs}, gang: {gang}, queue: {queue}}}
policy: {{allow: [hostNetwork]}}
"""

_ONE_ROLE = """\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {name: data}
spec: {partitions: 2, noSync: true, secretRef: {name: volume}}
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: single}
spec: {worker: {replicas: 1, template: {spec: {containers: [{name: main, image: local/train}]}}}}
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: collective, labels: {team: vision}, annotations: {stowplan.dev/run: "7"}}
spec:
  cleanPodPolicy: OnCompletion
  intranet: Service
  schedulingPolicy: {queue: QUEUE, priorityClass: training, minAvailable: 3, minResources: {cpu: "3"}}
  worker:
    replicas: 3
    template:
      metadata: {labels: {app: collective}, annotations: {note: "on"}}
      spec:
        initContainers: [{name: fetch, image: local/fetch, env: [{name: A, value: "1"}, {name: A, value: "2"}]}]
        containers:
        - name: main
          image: local/train
          command: [python, -m, paddle.distributed.launch, train.py]
          env:
          - {name: PADDLE_PORT, value: "36000"}
          - {name: WHO, value: "$(POD_IP)"}
          - {name: TOKEN, valueFrom: {secretKeyRef: {name: volume, key: metaurl}}}
          ports: [{containerPort: 36000}, {containerPort: 36000, name: first}]
          resources: {limits: {nvidia.com/gpu: 1, memory: 2Gi}, requests: {cpu: 0.5, memory: 2048Mi}}
          startupProbe: {tcpSocket: {port: 36000}, periodSeconds: 5}
          volumeMounts: [{name: shm, mountPath: /dev/shm}]
        - {name: board, image: local/board, ports: [{containerPort: 8080, name: http}]}
        nodeSelector: {kubernetes.io/os: linux}
        tolerations: [{key: gpu, operator: Exists}]
        terminationGracePeriodSeconds: 5
        volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 1Gi}}]
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: cached, annotations: {stowplan.dev/cache-placement: required}}
spec:
  sampleSetRef: {name: data, mountPath: /data}
  worker: {replicas: 2, template: {spec: {restartPolicy: Never, containers: [{name: main, image: local/train}]}}}
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: 1st.of-many-jobs-whose-names-are-far-too-long-for-a-label}
spec: {worker: {replicas: 12, template: {spec: {containers: [{name: main, image: local/train}]}}}}
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: empties}
spec:
  cleanPodPolicy: ""
  schedulingPolicy: {}
  worker:
    replicas: 1
    template:
      metadata: {creationTimestamp: null, labels: {}, annotations: {}}
      spec:
        affinity: {nodeAffinity: {}}
        hostAliases: []
        imagePullSecrets: []
        initContainers: []
        nodeSelector: {}
        securityContext: {}
        tolerations: null
        topologySpreadConstraints: []
        volumes: [{name: scratch, emptyDir: {}}, {name: nothing, emptyDir: }]
        containers:
        - name: main
          image: local/train
          args: []
          command:
          env:
          - {name: EMPTY, value: ""}
          - {name: NOTHING}
          - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
          envFrom: []
          lifecycle: {}
          ports: []
          resources: {limits: {}, requests: null}
          securityContext: {capabilities: {drop: [], add: null}}
          volumeMounts: []
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: hosted, namespace: HOME-host, annotations: {host-port: "36000"}}
spec:
  intranet: Host
  worker: {replicas: 2, template: {spec: {containers: [{name: main, image: local/train}]}}}
"""

_MANY_ROLES = """\
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: ctr}
spec:
  withGloo: 2
  sampleSetRef: {name: data, mountPath: /data}
  ps:
    replicas: 2
    template:
      spec:
        serviceAccountName: trainer
        automountServiceAccountToken: false
        initContainers:
        - {name: fetch, image: local/fetch}
        - {name: proxy, image: local/proxy, restartPolicy: Always}
        containers: [{name: main, image: local/train}, {name: exporter, image: local/exporter}]
        volumes: [{name: scratch, emptyDir: {}}]
  worker: {replicas: 3, template: {spec: {containers: [{name: main, image: local/train}]}}}
  heter: {replicas: 1, template: {spec: {serviceAccount: trainer, containers: [{name: main, image: local/train}]}}}
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: restarts}
spec:
  intranet: Service
  ps: {replicas: 1, template: {spec: {restartPolicy: Always, containers: [{name: main, image: local/train}]}}}
  worker: {replicas: 2, template: {spec: {containers: [{name: main, image: local/train}]}}}
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: heter-decides}
spec:
  ps: {replicas: 1, template: {spec: {containers: [{name: main, image: local/train}]}}}
  worker: {replicas: 0}
  heter: {replicas: 2, template: {spec: {containers: [{name: main, image: local/train}]}}}
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: hosted-servers, namespace: HOME-host}
spec:
  intranet: Host
  ps: {replicas: 2, template: {spec: {containers: [{name: main, image: local/train}]}}}
  worker: {replicas: 2, template: {spec: {containers: [{name: main, image: local/train}]}}}
"""

_ELASTIC = """\
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: elastic}
spec:
  elastic: 1
  schedulingPolicy: {minAvailable: 2}
  worker: {replicas: 4, template: {spec: {containers: [{name: main, image: local/train}]}}}
"""


def use_cases() -> dict[str, Callable[[], Example]]:
    """How to get the jobs for each pair of engines, by the names of the two."""
    return {f"{jobs}-{gang}": partial(_compile, jobs, gang) for jobs, gang in product(JOB_ENGINES, GANG_ENGINES)}


def _compile(jobs: str, gang: str) -> Example:
    """Kueue admits a JobSet as a whole and a Job by itself: with it, many roles need the one, elasticity the other."""
    home, queue = f"use-{jobs}-{gang}", _QUEUES.get(gang, "training")
    text = _ONE_ROLE
    if (jobs, gang) != ("core", "kueue"):
        text += _MANY_ROLES
    if (jobs, gang) != ("jobset", "kueue"):
        text += _ELASTIC
    platform = _PLATFORM.format(home=home, jobs=jobs, gang=gang, queue=queue)
    text = text.replace("HOME", home).replace("QUEUE", queue)
    return compile_example(f"{jobs}-{gang}", {"specs.yaml": text}, platform, _beside(gang, home))


def _beside(gang: str, home: str) -> list[Manifest]:
    """What the jobs name and somebody else makes."""
    priority = {**ref("scheduling.k8s.io/v1", "PriorityClass", "training"), "value": 1000}
    account = ref("v1", "ServiceAccount", "trainer", home)
    return [priority, account, *(_queues(home) if gang == "kueue" else [])]


def _queues(home: str) -> list[Manifest]:
    """Of Kueue: resources for everything, and the way to it from each namespace."""
    api = "kueue.x-k8s.io/v1beta2"
    flavor = ref(api, "ResourceFlavor", "any")
    quota = {"name": "cpu", "nominalQuota": "1k"}
    group = {"coveredResources": ["cpu"], "flavors": [{"name": "any", "resources": [quota]}]}
    cluster = {**ref(api, "ClusterQueue", "training"), "spec": {"namespaceSelector": {}, "resourceGroups": [group]}}
    local = [
        {**ref(api, "LocalQueue", "training", namespace), "spec": {"clusterQueue": "training"}}
        for namespace in (home, f"{home}-host")
    ]
    return [flavor, cluster, *local]
