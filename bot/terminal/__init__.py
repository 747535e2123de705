"""The chat at a terminal. It knows the scenes and the screen, and no Discord."""
