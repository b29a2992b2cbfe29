"""A change as reviewers see it: what runs, what ends, what it costs and what could be lost."""
