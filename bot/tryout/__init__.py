"""`aside try`: run the real bot on a simulated Discord in the browser, on loopback only."""
