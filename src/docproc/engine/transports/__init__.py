"""Implementations of the transport contract."""
