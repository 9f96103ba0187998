"""Plans: what a task asks for, as a flow of the engine."""
