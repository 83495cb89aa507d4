"""The memories: what was said, what is believed of it, and the ways in and out."""

import os

# Unless this is set before its first import, onnxruntime 1.29 and later tells Microsoft of each model it loads.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
