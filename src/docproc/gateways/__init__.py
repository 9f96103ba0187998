"""Gateways: the ways a file comes in."""
