"""The commands with which a change is reviewed."""
