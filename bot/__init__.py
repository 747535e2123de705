"""Aside: HER characters on Discord. docs/architecture.md is the map of the code."""
