"""The types of documents, one YAML file each: what people call them, what tells them apart, and which words
point at their fields. `document_type` explains the format, `loader` reads it."""
