"""The terminal: output, progress and signals, shared by the commands of every application."""
