"""Components that come with DocProc."""
