"""`docproc video`, one module for each command."""
