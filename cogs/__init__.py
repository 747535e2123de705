"""Discord's doors: slash commands, context menus, buttons and the listener. They translate and delegate."""
