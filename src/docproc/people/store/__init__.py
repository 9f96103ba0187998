"""What is kept of people: accounts, sign-ins, claims and assignments."""
