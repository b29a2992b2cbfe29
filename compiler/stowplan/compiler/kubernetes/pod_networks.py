"""Annotations that put a pod into networks beside that of the cluster."""

NETWORK_ANNOTATIONS = ("k8s.v1.cni.cncf.io/networks", "v1.multus-cni.io/default-network")
"""Those of Multus: https://github.com/k8snetworkplumbingwg/multus-cni/blob/master/docs/configuration.md."""
