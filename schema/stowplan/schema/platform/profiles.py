"""Profiles of the platform file: devices and networks that a Training names."""

from typing import Annotated

from pydantic import Field

from stowplan.schema.kinds.kubernetes_shapes import Toleration
from stowplan.schema.meta import DnsLabel, Int32, Model

_Amount = Annotated[str, Field(max_length=32)]


class ProfileVariable(Model):
    """An environment variable of the trainer."""

    name: str = Field(description="Its name.", max_length=253)
    value: str = Field(description="Its value.", max_length=32768)


class AcceleratorProfile(Model):
    """A device, and the nodes that have it."""

    resources: dict[str, _Amount] = Field(
        default_factory=dict,
        max_length=32,
        description='Limits of the trainer on each node, such as `nvidia.com/gpu: "8"`. The Training\'s own win.',
    )
    node_selector: dict[str, str] = Field(
        default_factory=dict, max_length=32, description="Labels of the nodes that have the device."
    )
    tolerations: list[Toleration] = Field(
        default_factory=list, max_length=32, description="Taints of these nodes: Kubernetes Tolerations."
    )
    env: list[ProfileVariable] = Field(default_factory=list, max_length=64, description="Environment variables.")
    nodes: Int32 | None = Field(
        default=None,
        ge=1,
        description="Number of nodes that belong together, such as the hosts of a TPU slice: `numNodes` must be this number.",
    )


class NetworkProfile(Model):
    """A network between the nodes, such as RDMA."""

    resources: dict[str, _Amount] = Field(
        default_factory=dict, max_length=32, description='Limits of the trainer on each node, such as `rdma/ib: "1"`.'
    )
    annotations: dict[str, str] = Field(
        default_factory=dict, max_length=32, description="Annotations of the pods, such as those that name interfaces."
    )
    env: list[ProfileVariable] = Field(
        default_factory=list, max_length=64, description="Environment variables, such as `NCCL_SOCKET_IFNAME`."
    )
    capabilities: list[Annotated[str, Field(max_length=63)]] = Field(
        default_factory=list,
        max_length=16,
        description="Capabilities of the trainer, such as `IPC_LOCK`. The Pod Security levels `baseline` and `restricted` refuse it.",
    )
    host_network: bool = Field(default=False, description="Whether pods use the network of their nodes.")
    shm_size: str | None = Field(
        default=None, max_length=32, description="Size of `/dev/shm` for a Training that gives none."
    )


class Profiles(Model):
    """Devices and networks that a Training names."""

    accelerators: dict[DnsLabel, AcceleratorProfile] = Field(
        default_factory=dict, max_length=64, description="Devices, by name."
    )
    networks: dict[DnsLabel, NetworkProfile] = Field(
        default_factory=dict, max_length=64, description="Networks between nodes, by name."
    )
