"""Blob stores: a local folder now."""
