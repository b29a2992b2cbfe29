"""Effect of changed specs on the output, object by object."""
