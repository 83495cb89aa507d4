"""Neural models that run on this machine, in one process beside the workers."""
