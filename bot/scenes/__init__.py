"""The domain: scenes, turns, takes, the cast, who speaks next, and the runner that plays one scene. Knows no Discord."""
