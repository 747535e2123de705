"""Aside: HER characters on Discord. `bot.app` wires the rooms; each package's docstring says what lives in it."""
