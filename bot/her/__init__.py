"""The HER language: replies into beats, a mind into messages, messages into a prompt. Pure, no I/O."""
