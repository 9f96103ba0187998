"""Tasks, sessions, services and traces over HTTP and WebSocket."""
