"""Materials: a PDF that a teacher uploads becomes a summary and a quiz, each grounded in its pages."""
