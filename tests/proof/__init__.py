"""Tests of the invariants: no leaked secret, no lost line, no doubled reply, no intruder.

Chance is seeded, so every run is equal. Environment variables make a run larger:
`PROOF_REPLIES=10000` plays that many hostile replies instead of 320, `PROOF_KILLS=200` kills the
program during that many turns instead of 20, and `PROOF_SEED` chooses other ones.
"""
