"""Policies around the handling of messages, one per file."""
