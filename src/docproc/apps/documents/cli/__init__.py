"""Commands that only make sense for documents."""
