"""Two tenants, and every way from one to the other: what `prove_isolation` tries."""
