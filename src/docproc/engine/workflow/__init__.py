"""Workflow files: their definition, loading, versions and routing."""
