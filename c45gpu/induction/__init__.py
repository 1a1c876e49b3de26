"""Induction: the host's side of learning. It owns the tree and touches no case."""
