"""`python -m gateway` is the `fencegate` command."""

from gateway.cli import main

main()
