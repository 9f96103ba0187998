"""Handling: deliveries in, effects once, outputs out; and the processes in which that happens."""
