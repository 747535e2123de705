"""`python -m bot` is `aside`."""

from bot.cli import main

main()
