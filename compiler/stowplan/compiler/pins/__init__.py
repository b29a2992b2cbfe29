"""Pins: what tags, branches and prefixes of the specs stand for, as the lock file has it."""
