"""What a change of the specs does to the output, object by object."""
