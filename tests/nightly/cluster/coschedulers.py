"""A second scheduler beside that of Kubernetes: that of scheduler-plugins, with the plug-in Coscheduling."""

import json
from pathlib import Path

from tests.cluster.control_plane import Cluster
from tests.cluster.processes import Process, free_port, listens

NAME = "scheduler-plugins-scheduler"
"""Of its Helm chart, and the default of `engines.scheduler`."""


def start(cluster: Cluster, program: Path) -> Process:
    """Run it for the pods that name it. The CRD of PodGroups must be served already."""
    port = free_port()
    configuration = cluster.processes.logs / "coscheduling.json"
    profile = {
        "schedulerName": NAME,
        "plugins": {
            "multiPoint": {"enabled": [{"name": "Coscheduling"}]},
            "queueSort": {"enabled": [{"name": "Coscheduling"}], "disabled": [{"name": "*"}]},
        },
    }
    content = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"kubeconfig": str(cluster.kubeconfig)},
        "profiles": [profile],
    }
    configuration.write_text(json.dumps(content), encoding="utf-8")
    arguments = [
        f"--config={configuration}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        f"--authentication-kubeconfig={cluster.kubeconfig}",
        f"--authorization-kubeconfig={cluster.kubeconfig}",
        # The plug-in asks for no retry when pods outside the group end: a refused pod waits this long (default 5m).
        "--pod-max-in-unschedulable-pods-duration=20s",
    ]
    process = cluster.processes.start(program, arguments)
    process.await_ready(lambda: listens(port), 30)
    return process
