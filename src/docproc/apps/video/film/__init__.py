"""Films: what is in them, their frames with true timestamps, and back to a film with its sound."""
