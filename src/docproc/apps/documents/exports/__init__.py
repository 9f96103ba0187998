"""Answers as files for accountants and their programs."""
