"""State of the specs in the cluster. Only this package of the command connects to an API server."""
