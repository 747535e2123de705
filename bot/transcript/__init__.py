"""A scene's story as a file: Markdown, HTML or JSON."""
