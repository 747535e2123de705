"""Adapt simcord 3.2.1, a simulated Discord for tests, to a person who plays in a browser.

Only this package uses simcord's internals. Its modules correct or extend simcord:

clock       simcord's clock only moves when a test moves it. Here it follows real time.
server      simcord waits after each step until the bot is idle, and fails if that takes long, as a
            reply does. Here a step ends when the bot has done its immediate work. Concurrent steps
            wait for each other instead of failing.
webhooks    simcord ignores `thread_id`, rejects buttons on a bot's own webhooks and drops a
            webhook's avatar.
windows     simcord shows one channel on one page, which has its own port, can't be embedded and
            repaints only after a button. Here every place of every person is a page under one
            address, and every change repaints it.

simcord is pinned to this version. The tests of this package show the differences of another one.
"""
