"""`aside setup`: write the first configuration."""
