"""Measures engines: how fast they write and read, and what coming back to a known mind costs."""
