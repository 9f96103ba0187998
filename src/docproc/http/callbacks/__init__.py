"""Callbacks: answers are sent to the address that a client named, signed, in order and until they arrive."""
