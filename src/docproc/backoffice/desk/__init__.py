"""What people do with tasks, whatever page or program they do it from."""
