"""The preview: sessions and their frames in a browser."""
