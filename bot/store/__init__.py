"""The store: everything said, kept in one SQLite file. `store.Store` is its front door. Knows no Discord."""
