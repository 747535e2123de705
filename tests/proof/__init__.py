"""What must never happen, tried: a secret told, a line lost, a reply doubled, a stranger let in.

Chance is seeded, so every run is the same run. More of it: `PROOF_REPLIES=10000` hostile replies instead of 320,
`PROOF_KILLS=200` points at which the program is killed instead of 20, and `PROOF_SEED` for others of both.
"""
