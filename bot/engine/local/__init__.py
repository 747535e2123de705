"""The local engine: llama.cpp in a worker process that decodes many replies in one batch."""
