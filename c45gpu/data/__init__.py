"""Data: the schema of a table, the table itself, and what reads one from files and frames."""
