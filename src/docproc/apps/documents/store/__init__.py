"""What is kept of pages, documents and people's corrections."""
