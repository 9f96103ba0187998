"""People: tasks, claims, assignment, presence and sign-in, whatever the tasks are about."""
