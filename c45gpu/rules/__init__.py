"""Production rules from trees: generalise paths, choose by code length, order, use."""
