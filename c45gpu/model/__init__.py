"""Models: the tree as parallel arrays, and what is done with a finished one (predict, evaluate, store)."""
