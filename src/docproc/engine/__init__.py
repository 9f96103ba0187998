"""The engine: handles messages so that their effects happen once. It knows no application."""
