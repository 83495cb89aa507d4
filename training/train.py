"""Train the judge: `python -m training.train FOLDER`.

The folder keeps where training stands, every few steps: started again it goes on from there, and comes to the same
weights. Then `python -m training.export FOLDER` writes the model that is shipped, and `python -m training.report` its
figures.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from random import Random
from statistics import mean
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from memories.judge.judge import TOKENIZER, tokenizer_of
from memories.judge.labels import HEADS
from memories.judge.tokens import Tokens
from training.corpus import SEED, Example, one_round, seen_so, sides, tokens_of
from training.network import Network, base_folder, from_base

STEPS = 4500
BATCH = 32
FROZEN = 2  # lowest layers that stay as they are
POOL = 32 * BATCH  # examples that are sorted by length together
RATE, HEAD_RATE = 2e-4, 1e-3
WARM, COOLING = 100, 1500  # steps in which the rate rises at the beginning, and falls at the end
SMOOTHED = 0.05
CATEGORY_WEIGHT = 0.5
KEPT_EVERY = 25  # steps
HALF = torch.ops.mkldnn._is_mkldnn_bf16_supported()  # whether to multiply in 16 bits

Item = tuple[Tokens, str, int, int]  # tokens, task, label, category or -1


def batches(tokenizer: Tokenizer, train: list[Example], number: int) -> Iterator[list[Item]]:
    """The batches of one round, of examples of like length, in a drawn order."""
    random = Random(f"{SEED}/{number}")
    examples = one_round(train, random)
    random.shuffle(examples)
    items: list[Item] = []
    for one in examples:
        tokens = tokens_of(tokenizer, seen_so(one, random))
        category = HEADS["category"].index(one.category) if one.category else -1
        items.append((tokens, one.task, HEADS[one.task].index(one.label), category))
    found = []
    for start in range(0, len(items), POOL):
        pool = sorted(items[start : start + POOL], key=lambda item: len(item[0].ids))
        found += [pool[at : at + BATCH] for at in range(0, len(pool), BATCH)]
    random.shuffle(found)
    yield from found


def tensors(tokens: list[Tokens]) -> tuple[Tensor, Tensor, Tensor]:
    """Ids, sides, and which of them are there."""
    longest = max(len(own.ids) for own in tokens)
    ids, sides_, known = (torch.zeros(len(tokens), longest, dtype=torch.long) for _ in range(3))
    for row, own in enumerate(tokens):
        ids[row, : len(own.ids)] = torch.tensor(own.ids)
        sides_[row, : len(own.ids)] = torch.tensor(own.sides)
        known[row, : len(own.ids)] = 1
    return ids, sides_, known


def loss_of(network: Network, batch: list[Item]) -> Tensor:
    """The mean loss of a batch, each example by its own task's head."""
    found = network(*tensors([item[0] for item in batch]))
    losses = []
    for task in ("change", "worth", "order"):
        rows = [row for row, item in enumerate(batch) if item[1] == task]
        if rows:
            wanted = torch.tensor([batch[row][2] for row in rows])
            losses.append(
                nn.functional.cross_entropy(found[task][rows], wanted, reduction="sum", label_smoothing=SMOOTHED)
            )
    rows = [row for row, item in enumerate(batch) if item[3] >= 0]
    if rows:
        wanted = torch.tensor([batch[row][3] for row in rows])
        losses.append(CATEGORY_WEIGHT * nn.functional.cross_entropy(found["category"][rows], wanted, reduction="sum"))
    return torch.stack(losses).sum() / len(batch)


def rate_at(step: int, steps: int) -> float:
    """The share of the rate at a step of so many: how many there will be says only when it begins to fall."""
    return min(1.0, step / WARM, max(0.02, (steps - step) / COOLING))


def optimizer_of(network: Network) -> torch.optim.Optimizer:
    """An optimizer of all but what lies lowest, the meaning of single words, which would be learned by heart."""
    for part in (network.words, network.places, network.sides, network.norm, *network.layers[:FROZEN]):
        part.requires_grad_(False)
    body = [each for name, each in network.named_parameters() if each.requires_grad and not name.startswith("heads.")]
    return torch.optim.AdamW(
        [{"params": body, "lr": RATE}, {"params": [*network.heads.parameters()], "lr": HEAD_RATE}],
        weight_decay=0.01,
        fused=True,
    )


def train(folder: Path, steps: int) -> None:
    """Train so many steps, keep the state, go on where it stands."""
    tokenizer, network = tokenizer_of(base_folder() / TOKENIZER), from_base()
    optimizer = optimizer_of(network)
    rates = [group["lr"] for group in optimizer.param_groups]
    kept = folder / "state.pt"
    done = 0
    if kept.exists():
        state = torch.load(kept)
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
        done = state["step"]
    examples = sides().train
    drawn = (batch for number in count() for batch in batches(tokenizer, examples, number))
    began, losses = time.monotonic(), []
    network.train()
    for step, batch in enumerate(islice(drawn, done, steps), done + 1):
        torch.manual_seed(SEED * 1_000_000 + step)
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * rate_at(step, steps)
        optimizer.zero_grad()
        # Where the processor multiplies such numbers: elsewhere it takes several times as long.
        with torch.autocast("cpu", torch.bfloat16, enabled=HALF):
            loss = loss_of(network, batch)
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        if step % KEPT_EVERY == 0 or step == steps:
            keep(kept, {"step": step, "network": network.state_dict(), "optimizer": optimizer.state_dict()})
            took = (time.monotonic() - began) / (step - done)
            sys.stdout.write(f"step {step} of {steps}, loss {mean(losses):.3f}, {took:.2f} s a step\n")
            sys.stdout.flush()
            losses.clear()


def keep(path: Path, state: dict[str, Any]) -> None:
    """Write the state beside the old one, and put it in its place."""
    torch.save(state, path.with_suffix(".new"))
    os.replace(path.with_suffix(".new"), path)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--steps", type=int, default=STEPS)
    given = arguments.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    train(given.folder, given.steps)
