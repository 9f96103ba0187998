"""The services: which there are, how they are reached, and what is sent to them."""
