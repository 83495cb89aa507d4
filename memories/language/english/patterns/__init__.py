"""The library of patterns, a row each with its own examples; data but for `library`, which tries them."""
