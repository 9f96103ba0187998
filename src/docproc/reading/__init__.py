"""Reading: files, pages, text layers, OCR and codes as pure functions. They know nothing of the engine."""
