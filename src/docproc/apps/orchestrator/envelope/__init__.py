"""The envelope: what travels between the orchestrator and services."""
