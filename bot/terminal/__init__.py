"""A scene at a terminal: what `aside chat` shows, reads and does. Knows the scenes, and neither Discord nor engines."""
