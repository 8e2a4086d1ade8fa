"""``python -m hushpath``."""

from .cli import main

main()
