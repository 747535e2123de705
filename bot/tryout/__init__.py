"""`aside try`: the real bot against a simulated Discord that a person plays in the browser, on loopback only."""
