"""The queue: jobs posted with their rows, leases, long work, signs of life."""
