"""Where simcord 3.2.1 is wrong about Discord, or short for a person who plays: everything that reaches into it.

simcord is made for tests. What stands here makes a place to play of it, and nothing else in this program touches its
insides:

clock       its time stands still until a test moves it; here it runs.
server      it waits after each step until the bot rests, and fails where that takes long, as a reply does; here a step
            is over when the bot has done what it can do at once. One step at a time is enforced by waiting, not by
            refusing.
webhooks    it drops `thread_id`, refuses buttons on a bot's own webhooks, and throws a webhook's picture away.
windows     it allows one page for one channel, each on a port of its own, that no page may embed and that repaints when
            a button is pressed; here every place of every person is a page under one address, repainted on any change.

It is pinned to that one version: with another one, the tests of this room tell what has changed.
"""
