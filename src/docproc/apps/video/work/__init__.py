"""Who filters the frames of a film: child processes of this machine, or Celery workers."""
