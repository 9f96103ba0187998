"""The commands of materials."""
