"""Benchmarks of the engine and of the bot: `aside bench`."""
