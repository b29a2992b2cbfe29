"""`python -m stowplan.compiler` is the `stowplan` command."""

from stowplan.compiler.cli import main

main()
