"""`aside run`: bring the bot online."""
