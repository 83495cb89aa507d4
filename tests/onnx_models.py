"""Folders with a model in ONNX, small enough to compute by hand: a table of vectors, one row per
token, written field by field as the format has it. Its writer is a package of many megabytes."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

WORDS = ["[PAD]", "[UNK]", "the", "pond", "froze", "heron", "waits", "bread", "rises", "slowly"]
FLOAT, INT64 = 1, 7  # of TensorProto.DataType
INT, BYTES = 0, 2  # wire types


def varint(number: int) -> bytes:
    head, rest = number & 0x7F, number >> 7
    return bytes([head | 0x80]) + varint(rest) if rest else bytes([head])


def field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return varint(number << 3 | INT) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | BYTES) + varint(len(data)) + data


def tensor(name: str, values: npt.NDArray[np.float32]) -> bytes:
    shape = b"".join(field(1, size) for size in values.shape)
    return shape + field(2, FLOAT) + field(8, name) + field(9, values.tobytes())


def value(name: str, kind: int, dimensions: int) -> bytes:
    """An input or output of sizes that are not said."""
    shape = b"".join(field(1, field(2, f"{name}_{at}")) for at in range(dimensions))
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))


def node(kind: str, inputs: Sequence[str], output: str, *attributes: bytes) -> bytes:
    named = b"".join(field(1, name) for name in inputs) + field(2, output)
    return named + field(4, kind) + b"".join(field(5, one) for one in attributes)


def model(
    table: npt.NDArray[np.float32],
    inputs: Sequence[str] = ("input_ids", "attention_mask"),
    pools: bool = False,
) -> bytes:
    """Looks each token up; `pools`: and answers the greatest number of each column for a text."""
    nodes = [node("Gather", ["table", "input_ids"], "last_hidden_state")]
    outputs = [value("last_hidden_state", FLOAT, 3)]
    if pools:
        axes = field(1, "axes") + field(8, 1) + field(20, INT64)
        keep = field(1, "keepdims") + field(3, 0) + field(20, 2)
        names = ["last_hidden_state"], "sentence_embedding"
        nodes.append(node("ReduceMax", *names, axes, keep))
        outputs.append(value("sentence_embedding", FLOAT, 2))
    graph = b"".join(field(1, one) for one in nodes) + field(2, "small")
    graph += field(5, tensor("table", table))
    graph += b"".join(field(11, value(name, INT64, 2)) for name in inputs)
    graph += b"".join(field(12, one) for one in outputs)
    return field(1, 8) + field(7, graph) + field(8, field(2, 13))


def cross_encoder(weights: npt.NDArray[np.float32]) -> bytes:
    """Answers the mean weight of the tokens of a pair; `weights` has a row of one number per token."""
    axes = field(1, "axes") + field(8, 1) + field(20, INT64)
    keep = field(1, "keepdims") + field(3, 0) + field(20, 2)
    nodes = [
        node("Gather", ["table", "input_ids"], "looked_up"),
        node("ReduceMean", ["looked_up"], "logits", axes, keep),
    ]
    graph = b"".join(field(1, one) for one in nodes) + field(2, "small")
    graph += field(5, tensor("table", weights))
    graph += b"".join(field(11, value(name, INT64, 2)) for name in ("input_ids", "attention_mask"))
    graph += field(12, value("logits", FLOAT, 2))
    return field(1, 8) + field(7, graph) + field(8, field(2, 13))


def table(dimensions: int = 8, seed: int = 1) -> npt.NDArray[np.float32]:
    made = np.random.default_rng(seed).normal(size=(len(WORDS), dimensions))
    return made.astype(np.float32)


def write(folder: Path, content: bytes | None = None, **about: object) -> Path:
    """A folder with `content` as its model and `about` in its config.json; `longest`: most tokens of a text."""
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": {
            "strategy": "BatchLongest",
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 0,
            "pad_type_id": 0,
            "pad_token": "[PAD]",
        },
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "post_processor": None,
        "pre_tokenizer": {"type": "Whitespace"},
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {word: at for at, word in enumerate(WORDS)},
            "unk_token": "[UNK]",
        },
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(model(table()) if content is None else content)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    own = {"model_max_length": about.pop("longest", 512), "pad_token": "[PAD]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(own))
    (folder / "config.json").write_text(json.dumps({"hidden_size": 8} | about))
    return folder


def write_json(folder: Path, name: str, content: object) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(content))
