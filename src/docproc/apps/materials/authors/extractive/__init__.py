"""The offline author: quotes the text, and asks about what it defines, dates, counts and relates."""
