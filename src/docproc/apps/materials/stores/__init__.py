"""Where summaries and quizzes are kept."""
