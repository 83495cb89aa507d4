"""The memories: what was said, what is believed of it, and the ways in and out."""

import os

# From 1.29 on onnxruntime reports each model that it loads to its maker, unless this stands when it is first imported.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
