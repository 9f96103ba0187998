"""`docproc orchestrator`: the demo, and services in Python."""
