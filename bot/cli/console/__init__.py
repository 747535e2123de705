"""The terminal side of the command line: options, progress bars, failures, standard streams."""
