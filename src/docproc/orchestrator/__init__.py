"""What services written in Python import."""
