"""Video: a film is taken apart, its frames are filtered in parallel, and it is put together again."""
