"""Writes the golden values of the training engine: PyTorch's losses, gradients and parameters for two small models.

    /usr/bin/python3 test/golden/make_engine.py

The models are written here from the architecture's description, independently of the engine, in double precision.
`plain` is a language model; `aids` has every optional part: match flag, token shift, pointer, value head, grammar
masks, full KL, entropy, episodes of several rows and padding.
"""

import json
import math
from pathlib import Path

import torch
from torch.nn import functional as F

torch.set_default_dtype(torch.float64)
STEPS = 20
OPTIMIZER = {"beta1": 0.9, "beta2": 0.98, "epsilon": 1e-8, "weightDecay": 0.05, "clip": 1.0}
LEARNING_RATE = 3e-3

PLAIN = dict(vocabulary=13, width=8, layers=2, heads=2, feedForward=12, gate="swiglu", contextLength=16, valueHead=False,
             aids=dict(matchFlag=False, pointer=False, tokenShift=0))
AIDS = dict(vocabulary=13, width=12, layers=2, heads=3, feedForward=10, gate="relu2", contextLength=16, valueHead=True,
            aids=dict(matchFlag=True, pointer=True, tokenShift=2))


def shapes(config):
    """Parameter names and shapes, in the engine's order."""
    width, hidden = config["width"], config["feedForward"]
    yield "embedding", (config["vocabulary"], width)
    if config["aids"]["matchFlag"]:
        yield "match", (width,)
    for back in range(1, config["aids"]["tokenShift"] + 1):
        yield f"shift.{back}", (width,)
    for layer in range(config["layers"]):
        name = f"layer.{layer}."
        yield name + "attention.norm", (width,)
        for part in ("query", "key", "value", "output"):
            yield name + "attention." + part, (width, width)
        yield name + "feedForward.norm", (width,)
        if config["gate"] == "swiglu":
            yield name + "feedForward.gate", (hidden, width)
        yield name + "feedForward.up", (hidden, width)
        yield name + "feedForward.down", (width, hidden)
    yield "norm", (width,)
    if config["aids"]["pointer"]:
        size = min(width, 64)
        yield "pointer.query", (size, width)
        yield "pointer.key", (size, width)
        yield "pointer.gate", (1, width)
        yield "pointer.amount", (1,)
    if config["valueHead"]:
        yield "value.weight", (1, width)
        yield "value.bias", (1,)


def norm(x, gain):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * gain


def rotate(x):
    """x: [row, head, time, size]"""
    time, size = x.shape[-2:]
    angles = torch.arange(time)[:, None] * 10000.0 ** (-torch.arange(size // 2) / (size // 2))
    first, second = x[..., : size // 2], x[..., size // 2 :]
    return torch.cat([first * angles.cos() - second * angles.sin(), second * angles.cos() + first * angles.sin()], -1)


def hidden_states(config, p, tokens, flags):
    rows, time = tokens.shape
    width, heads = config["width"], config["heads"]
    x = p["embedding"][tokens]
    if config["aids"]["matchFlag"]:
        x = x + flags[..., None] * p["match"]
    x = x + sum(p[f"shift.{back}"] * F.pad(x, (0, 0, back, 0))[:, :-back] for back in range(1, config["aids"]["tokenShift"] + 1))
    mask = torch.full((time, time), -math.inf).triu(1)
    for layer in range(config["layers"]):
        w = lambda name: p[f"layer.{layer}.{name}"]
        y = norm(x, w("attention.norm"))
        q, k, v = (F.linear(y, w("attention." + n)).view(rows, time, heads, -1).transpose(1, 2) for n in ("query", "key", "value"))
        scores = rotate(q) @ rotate(k).transpose(-2, -1) / math.sqrt(width // heads) + mask
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(rows, time, width)
        x = x + F.linear(mixed, w("attention.output"))
        y = norm(x, w("feedForward.norm"))
        up = F.linear(y, w("feedForward.up"))
        active = F.silu(F.linear(y, w("feedForward.gate"))) * up if config["gate"] == "swiglu" else F.relu(up).square()
        x = x + F.linear(active, w("feedForward.down"))
    return norm(x, p["norm"])


def logits_at(config, p, tokens, hidden, positions):
    rows, time = tokens.shape
    chosen = torch.gather(hidden, 1, positions[..., None].expand(-1, -1, hidden.shape[-1]))
    logits = F.linear(chosen, p["embedding"])
    if config["aids"]["pointer"]:
        query, key = F.linear(chosen, p["pointer.query"]), F.linear(hidden, p["pointer.key"])
        scores = query @ key.transpose(1, 2) / math.sqrt(query.shape[-1])
        scores = scores.masked_fill(torch.arange(time) > positions[..., None], -math.inf)
        copied = scores.softmax(-1) @ F.one_hot(tokens, config["vocabulary"]).to(hidden.dtype)
        logits = logits + copied * (F.linear(chosen, p["pointer.gate"]) + p["pointer.amount"])
    return chosen, logits


def objective(config, p, b):
    hidden = hidden_states(config, p, b["tokens"], b.get("flags"))
    chosen, logits = logits_at(config, p, b["tokens"], hidden, b["positions"])
    if "maskTable" in b:
        logits = logits + b["maskTable"][b["maskIndex"]]
    log = logits.log_softmax(-1)
    log_probs = log.gather(-1, b["targets"][..., None])[..., 0] * b["weights"]
    mean = lambda x: (x * b["weights"]).sum() / b["weights"].sum()
    if not config["valueHead"]:
        return -mean(log_probs)
    entropy = -(log.exp() * log).sum(-1)
    reference = (b["referenceLogits"] + b["maskTable"][b["maskIndex"]]).log_softmax(-1)
    kl = (log.exp() * (log - reference)).sum(-1)
    values = (F.linear(chosen, p["value.weight"]) + p["value.bias"])[..., 0]
    per_episode = b["assign"] @ (log_probs * b["weights"]).sum(1)
    regression = ((0.1 * per_episode - b["advantage"]) ** 2).mean()
    return regression + 0.5 * mean((values - b["returns"]) ** 2) - 0.01 * mean(entropy) + 0.1 * mean(kl)


def batch(config):
    if not config["valueHead"]:
        rows, time = 3, 7
        return {
            "tokens": torch.randint(config["vocabulary"], (rows, time)),
            "positions": torch.arange(time).repeat(rows, 1),
            "targets": torch.randint(config["vocabulary"], (rows, time)),
            "weights": torch.ones(rows, time),
            "assign": torch.eye(rows),
        }
    rows, time, count, masks = 4, 9, 5, 3
    weights = (torch.arange(count) < torch.tensor([5, 3, 4, 1])[:, None]).to(torch.float64)
    table = torch.where(torch.rand(masks, config["vocabulary"]) < 0.4, -1e9, 0.0)
    table[0] = 0
    index = torch.randint(masks, (rows, count))
    allowed = [[int(t) for t in range(config["vocabulary"]) if table[m, t] == 0] for m in range(masks)]
    targets = torch.tensor([[allowed[m][int(torch.randint(len(allowed[m]), (1,)))] for m in row] for row in index.tolist()])
    return {
        "tokens": torch.randint(config["vocabulary"], (rows, time)),
        "flags": torch.randint(2, (rows, time)).to(torch.float64),
        "positions": torch.randint(time, (rows, count)),
        "targets": targets,
        "weights": weights,
        "maskIndex": index,
        "maskTable": table,
        "assign": torch.tensor([[1.0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]),
        "referenceLogits": torch.randn(rows, count, config["vocabulary"]),
        "advantage": torch.randn(3),
        "returns": torch.randn(rows, count),
    }


def rounded(x):
    """Inputs and starting values are exact in single precision."""
    return x.to(torch.float32).to(torch.float64) if x.is_floating_point() else x


def numbers(x):
    return [float(f"{v:.9g}") if isinstance(v, float) else v for v in x.detach().flatten().tolist()]


def golden(config, seed):
    torch.manual_seed(seed)
    start = {}
    for name, shape in shapes(config):
        start[name] = rounded(torch.randn(shape) * 0.25 + (1.0 if name.endswith("norm") or name == "pointer.amount" else 0.0))
    b = {name: rounded(x) for name, x in batch(config).items()}
    p = {name: x.clone().requires_grad_() for name, x in start.items()}
    groups = [
        {"params": [x for x in p.values() if x.dim() > 1], "weight_decay": OPTIMIZER["weightDecay"]},
        {"params": [x for x in p.values() if x.dim() == 1], "weight_decay": 0.0},
    ]
    adamw = torch.optim.AdamW(groups, lr=LEARNING_RATE, betas=(OPTIMIZER["beta1"], OPTIMIZER["beta2"]), eps=OPTIMIZER["epsilon"])
    losses, norms, gradients = [], [], {}
    for step in range(STEPS):
        adamw.zero_grad()
        loss = objective(config, p, b)
        loss.backward()
        if step == 0:
            gradients = {name: numbers(x.grad) for name, x in p.items()}
        norms.append(float(torch.nn.utils.clip_grad_norm_(p.values(), OPTIMIZER["clip"])))
        adamw.step()
        losses.append(loss.item())
    return {
        "made": f"PyTorch {torch.__version__}, make_engine.py",
        "config": config,
        "optimizer": OPTIMIZER,
        "learningRate": LEARNING_RATE,
        "batch": {name: {"shape": list(x.shape), "whole": not x.is_floating_point(), "data": numbers(x)} for name, x in b.items()},
        "start": {name: numbers(x) for name, x in start.items()},
        "losses": losses,
        "norms": norms,
        "gradients": gradients,
        "end": {name: numbers(x) for name, x in p.items()},
    }


if __name__ == "__main__":
    folder = Path(__file__).parent
    for name, config, seed in (("plain", PLAIN, 1), ("aids", AIDS, 7)):
        (folder / f"engine-{name}.json").write_text(json.dumps(golden(config, seed)) + "\n")
