"""DocProc: files in, checked and structured answers out, before a deadline."""

__version__ = "0.1.0"
