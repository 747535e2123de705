"""Evaluation of role-play: self-play, judges, scores and form metrics. Used by `aside eval`."""
