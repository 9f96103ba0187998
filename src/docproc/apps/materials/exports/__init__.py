"""A summary and a quiz as files that people and other systems read."""
