"""Capacity planning: how many workers and people a load needs to keep its deadline."""
