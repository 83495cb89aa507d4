"""Write the trained network as the model that is shipped: `python -m training.export FOLDER`.

It becomes an ONNX graph of eight-bit weights, whose outputs are probabilities. Each head's logits are divided by the
temperature that makes them fit the examples that choose thresholds; these are chosen on what was exported.
"""

import json
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from memories.judge.judge import (
    SHIPPED,
    THRESHOLDS,
    TOKENIZER,
    VECTOR,
    WEIGHTS,
    Line,
    Thresholds,
    TrainedJudge,
    tokenizer_of,
)
from memories.judge.labels import HEADS
from memories.judge.tokens import LONGEST
from training.corpus import TASKS, Example, controls_of, dev_lives, sides, tokens_of
from training.network import ATTENTIONS, EPSILON, LAYERS, WIDTH, Network, base_folder
from training.scores import asked, dropped_from, kept_from, marks_of, raised, thresholds_of
from training.train import BATCH, tensors

Weights = dict[str, npt.NDArray[np.float32]]
COOLEST, HOTTEST = 0.5, 4.0


class Graph:
    """An ONNX graph that is written node by node; a name stands for what a node gives."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: Any) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        output = output or f"node_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], name=f"at_{output}", **attributes))
        return output

    def linear(self, x: str, name: str, divided_by: float = 1.0) -> str:
        weight, bias = (self._weights[f"{name}.{part}"] / np.float32(divided_by) for part in ("weight", "bias"))
        product = self.node("MatMul", x, self.constant(np.ascontiguousarray(weight.T)))
        return self.node("Add", product, self.constant(bias))

    def norm(self, x: str, name: str) -> str:
        weight, bias = (self.constant(self._weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.node("LayerNormalization", x, weight, bias, axis=-1, epsilon=EPSILON)

    def looked_up(self, name: str, ids: str) -> str:
        return self.node("Gather", self.constant(self._weights[f"{name}.weight"]), ids)

    def encoder(self) -> tuple[str, str]:
        """The encoder's vectors, and which tokens are there as numbers."""
        at = (
            self.constant(np.array([0], np.int64)),
            self.constant(np.array([1], np.int64)),
            self.constant(np.array([2], np.int64)),
        )
        length = self.node("Slice", self.node("Shape", "ids"), at[1], at[2])
        table = self.constant(self._weights["places.weight"][:LONGEST])
        places = self.node("Slice", table, at[0], length, at[0])
        x = self.node("Add", self.looked_up("words", "ids"), self.looked_up("sides", "sides"))
        x = self.norm(self.node("Add", x, places), "norm")
        known = self.node("Cast", "known", to=TensorProto.FLOAT)
        axes = self.constant(np.array([1, 2], np.int64))
        absent = self.node("Sub", self.constant(np.array([1], np.float32)), self.node("Unsqueeze", known, axes))
        unseen = self.node("Mul", absent, self.constant(np.array([-1e9], np.float32)))
        for layer in range(LAYERS):
            x = self.layer(x, unseen, f"layers.{layer}")
        return x, known

    def layer(self, x: str, unseen: str, name: str) -> str:
        split = self.constant(np.array([0, 0, ATTENTIONS, WIDTH // ATTENTIONS], np.int64))
        query, key, value = (
            self.node("Reshape", self.linear(x, f"{name}.{part}"), split) for part in ("query", "key", "value")
        )
        query, value = (self.node("Transpose", part, perm=[0, 2, 1, 3]) for part in (query, value))
        key = self.node("Transpose", key, perm=[0, 2, 3, 1])
        scale = self.constant(np.array([(WIDTH // ATTENTIONS) ** -0.5], np.float32))
        likeness = self.node("Mul", self.node("MatMul", query, key), scale)
        shares = self.node("Softmax", self.node("Add", likeness, unseen), axis=-1)
        seen = self.node("Transpose", self.node("MatMul", shares, value), perm=[0, 2, 1, 3])
        seen = self.node("Reshape", seen, self.constant(np.array([0, 0, WIDTH], np.int64)))
        x = self.norm(self.node("Add", x, self.linear(seen, f"{name}.attended")), f"{name}.first_norm")
        inner = self.node("Gelu", self.linear(x, f"{name}.inner"))
        return self.norm(self.node("Add", x, self.linear(inner, f"{name}.outer")), f"{name}.second_norm")

    def pooled(self, x: str, known: str) -> str:
        first = self.node("Gather", x, self.constant(np.int64(0)), axis=1)
        one, two = self.constant(np.array([1], np.int64)), self.constant(np.array([2], np.int64))
        there = self.node("Mul", x, self.node("Unsqueeze", known, two))
        summed = self.node("ReduceSum", there, one, keepdims=0)
        mean = self.node("Div", summed, self.node("ReduceSum", known, one, keepdims=1))
        return self.node("Concat", first, mean, output=VECTOR, axis=-1)


def write(network: Network, temperatures: dict[str, float], path: Path) -> None:
    """Write the network in eight bits."""
    graph = Graph({name: tensor.numpy() for name, tensor in network.state_dict().items()})
    pooled = graph.pooled(*graph.encoder())
    for head in HEADS:
        logits = graph.linear(pooled, f"heads.{head}", temperatures.get(head, 1.0))
        graph.node("Softmax", logits, output=head, axis=-1)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "length"])
        for name in ("ids", "sides", "known")
    ]
    outputs = [
        helper.make_tensor_value_info(head, TensorProto.FLOAT, ["texts", len(labels)]) for head, labels in HEADS.items()
    ]
    # A workspace that teaches the judge reads it, too.
    outputs.append(helper.make_tensor_value_info(VECTOR, TensorProto.FLOAT, ["texts", 2 * WIDTH]))
    model = helper.make_model(
        helper.make_graph(graph.nodes, "judge", inputs, outputs, graph.constants),
        opset_imports=[helper.make_opsetid("", 20)],
        ir_version=10,
    )
    onnx.checker.check_model(model)
    with TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.onnx"
        onnx.save(model, whole)
        quantize_dynamic(
            whole, path, weight_type=QuantType.QInt8, per_channel=True, op_types_to_quantize=["MatMul", "Gather"]
        )


def temperatures_of(network: Network, examples: list[Example]) -> dict[str, float]:
    """Return what each task's logits are divided by, so that they are as sure as they are right."""
    tokenizer = tokenizer_of(base_folder() / TOKENIZER)
    found = {}
    for task in TASKS:
        of_task = sorted((one for one in examples if one.task == task), key=lambda one: len(one.text))
        tokens = [tokens_of(tokenizer, one) for one in of_task]
        with torch.no_grad():
            parts = (network(*tensors(tokens[at : at + BATCH])) for at in range(0, len(tokens), BATCH))
            logits = torch.cat([part[task] for part in parts])
        wanted = torch.tensor([HEADS[task].index(one.label) for one in of_task])
        tried = np.linspace(COOLEST, HOTTEST, 71)
        losses = [torch.nn.functional.cross_entropy(logits / float(each), wanted).item() for each in tried]
        found[task] = round(float(tried[int(np.argmin(losses))]), 2)
    return found


def export(folder: Path, to: Path) -> None:
    """Write model, tokenizer and thresholds."""
    network = Network().eval()
    network.load_state_dict(torch.load(folder / "state.pt")["network"])
    dev = sides().dev
    temperatures = temperatures_of(network, dev)
    to.mkdir(parents=True, exist_ok=True)
    write(network, temperatures, to / WEIGHTS)
    shutil.copy(base_folder() / "tokenizer.json", to / TOKENIZER)
    (to / THRESHOLDS).write_text(json.dumps(dict.fromkeys(Thresholds._fields, 0.9)))
    chosen = thresholds(TrainedJudge(to), dev)
    (to / THRESHOLDS).write_text(json.dumps(chosen._asdict()) + "\n")
    size = (to / WEIGHTS).stat().st_size / 2**20
    sys.stdout.write(f"{TrainedJudge(to).name}: {size:.1f} MiB, temperatures {temperatures}, {chosen}\n")


def thresholds(judge: TrainedJudge, dev: list[Example]) -> Thresholds:
    """Choose thresholds on examples that were not trained on."""
    changes = [one for one in dev if one.task == "change"]
    sentences = [one for one in dev if one.task == "worth"]
    worth = judge.worth([Line(one.before, one.text) for one in sentences]) or []
    keep = kept_from([one.fact for one in worth], [one.label == "fact" for one in sentences])
    drop = dropped_from([said.fiction for one, said in zip(sentences, worth, strict=True) if one.label == "fact"])
    found, controls = asked(judge, changes), asked(judge, controls_of(changes))
    chosen = thresholds_of(changes, found, controls, keep, drop)
    return raised(chosen, marks_of(judge, dev_lives()))


if __name__ == "__main__":
    export(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else SHIPPED)
