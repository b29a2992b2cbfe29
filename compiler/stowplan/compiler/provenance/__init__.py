"""Where every value of the output comes from: a place in a spec or the platform file, a default, or a rule."""
