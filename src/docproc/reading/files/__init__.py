"""What a file that was sent holds: its pages, or the files packed in it, each checked, ready to be read."""
