"""What the HTTP server answers about documents."""
