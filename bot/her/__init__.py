"""The HER language: parse replies into beats and build prompts from minds. Pure code, no I/O."""
