"""The documents' kinds of tasks: what is asked, how an answer is read and applied."""
