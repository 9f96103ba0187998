"""Whether a question is any good, judged by code: the same checks for every author."""
