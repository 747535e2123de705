"""`aside models`: list, download, build and manage model files."""
