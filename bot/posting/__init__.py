"""Turn takes into Discord messages and keep those messages in line with the story.

These modules are pure functions from text to text: `graphemes`, `escaping`, `speech_markdown`,
`split`, `render`, `webhook_names`, `dice_format`, `opening_post` and `status_pages`. The other
modules send requests to Discord. `delivery` is the entry point.
"""
