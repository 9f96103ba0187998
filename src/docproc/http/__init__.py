"""HTTP: the server, its errors, streams and callbacks, for every application."""
