"""Slash commands, context menus, buttons and listeners. They translate Discord for `bot.scenes`."""
