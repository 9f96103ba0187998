"""What the API tells of films."""
