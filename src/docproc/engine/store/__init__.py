"""State: tables, sessions and the named statements that settle races."""
