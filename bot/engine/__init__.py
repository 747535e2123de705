"""Engines turn a prompt into a stream of text: `local` runs llama.cpp, `remote` asks a server."""
