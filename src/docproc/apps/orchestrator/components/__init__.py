"""The stages of a plan: calling a service, taking its answer, and the result of a task."""
