"""What the cluster says of the specs: the one part of the command that talks to an API server."""
