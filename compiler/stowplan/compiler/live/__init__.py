"""Status of the specs in the cluster. No other package of the compiler connects to an API server of Kubernetes."""
