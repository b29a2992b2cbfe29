"""One comment on a pull or merge request, which `stowplan comment` keeps up to date."""
