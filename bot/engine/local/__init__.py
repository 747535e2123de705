"""The local kind of engine: llama.cpp in a process of its own, many replies in one batch."""
