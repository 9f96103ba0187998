"""What people do with a quiz: questions that need a look, and edits of their own."""
