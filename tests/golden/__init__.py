"""The package held against the answers of the original program: ``python -m tests.golden FOLDER``."""
