"""What can be done to a frame: one module for each filter."""
