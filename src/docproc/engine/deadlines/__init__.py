"""Deadlines: what watches over requests, plans their order and answers for them in time."""
