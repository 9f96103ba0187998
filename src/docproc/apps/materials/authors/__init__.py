"""Those who write summaries and quizzes, each behind `docproc.apps.materials.author.Author`."""
