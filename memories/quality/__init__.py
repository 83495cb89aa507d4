"""Golden questions, calibration and reports of how good the memory is."""
