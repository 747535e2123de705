"""How a take becomes Discord messages: escaping, splitting, spoilers, persona webhooks, direct messages, mentions.

`letters`, `markdown`, `speech`, `split`, `render`, `names`, `opening` and `pages` are pure: text in, text out.
`webhooks`, `voice`, `traces`, `directs` and `stage` speak to Discord.
"""
