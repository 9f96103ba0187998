"""Calls of services: opened by a step, ended by an answer or a timeout, each once."""
