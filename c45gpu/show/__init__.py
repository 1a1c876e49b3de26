"""Trees for people and for programs: printed, and as JSON."""
