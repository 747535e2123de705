"""Engines: a prompt in, a stream of text out. `protocol` says what an engine is; `local` and `remote` are its kinds."""
