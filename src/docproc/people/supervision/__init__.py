"""What supervisors do: correct, organise, check each other's work, and look back."""
