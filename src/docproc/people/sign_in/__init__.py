"""Sign-in: passwords, sessions, limits and identity providers, when `DOCPROC_AUTH=on`."""
