"""Doors: the ways files come in besides HTTP, each a gateway of its own in front of the one reception."""
