"""The terminal side of the command line: progress bars, standard streams, failures, shared options."""
