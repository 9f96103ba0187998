"""The web console: one frame for the pages of every application."""
