"""`aside doctor`: check the installation and suggest fixes."""
