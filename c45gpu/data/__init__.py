"""Data: what is known of a table (:mod:`.schema`), the table itself (:mod:`.table`), and what reads one from files and frames."""
