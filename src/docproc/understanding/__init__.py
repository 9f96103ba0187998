"""Pure functions from files and pages to text, types and fields. They know nothing of the engine."""
