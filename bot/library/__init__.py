"""The library: scenarios and their characters, loaded from YAML and checked. Knows no Discord."""
