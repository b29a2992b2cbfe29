"""Origin of every value of the output: a place in a spec or the platform file, a default, or a rule."""
