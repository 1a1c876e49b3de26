"""The tables of the articles that c45gpu was asked to reproduce, beside ours: ``python -m bench.sources``."""
