"""Keep everything that was said in one SQLite file. Start at `store.Store`. Knows no Discord."""
