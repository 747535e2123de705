"""The domain: scenes, turns, takes, the cast, and the choice of speakers. It knows no Discord."""
