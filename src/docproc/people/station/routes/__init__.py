"""What the review station answers, by subject."""
