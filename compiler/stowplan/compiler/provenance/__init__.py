"""Origin of every value of the output: a field of a spec or the platform file, its default, or a rule."""
