"""The domain: scenes, turns, takes, the cast, who speaks next, and the runner of one scene. Knows no Discord."""
