"""Understanding: from a page's text to types, documents and fields. Knows nothing of the engine."""
