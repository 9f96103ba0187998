"""The API of materials."""
