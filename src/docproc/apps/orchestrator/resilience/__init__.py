"""What keeps calls of services going when services fail: time limits, retries, breakers, degradation."""
