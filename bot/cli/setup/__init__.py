"""`aside setup`: create the first configuration."""
