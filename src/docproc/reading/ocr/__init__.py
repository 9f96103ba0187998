"""OCR engines: each one module with one class, chosen by name in settings or in a stage's options."""
