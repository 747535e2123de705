"""Run a text through a model: compute an importance matrix, or measure perplexity."""
