"""Benchmarks of c45gpu beside what a user would pick instead; ``python -m bench`` runs them."""
