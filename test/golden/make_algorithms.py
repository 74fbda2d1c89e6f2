# Computes every variant's loss and its gradients with PyTorch in double precision, straight from the formulas, for a small
# random batch: test/golden/algorithms.json. Run it again with: python3 test/golden/make_algorithms.py
# The batch holds what is hard: an empty generation, an episode of one token, a turn without tokens, and padding.
import json
import math
import os
import random

import torch

torch.manual_seed(7)
random.seed(7)
torch.set_default_dtype(torch.float64)

# Agent tokens of each turn of each episode.
TURNS = [[3, 2, 4], [1], [], [5, 0, 2], [2, 2], [4, 3], [6], [2, 1, 1, 3]]
TASKS = ["a", "a", "b", "b", "b", "c", "c", "a"]
E = len(TURNS)
A = max(sum(turns) for turns in TURNS) + 2  # two columns of padding


def numbers(n, low, high):
    return [round(random.uniform(low, high), 4) for _ in range(n)]


episodes = []
for task, turns in zip(TASKS, TURNS):
    success = random.random() < 0.5 and len(turns) > 0
    steps = []
    for n in turns:
        old = numbers(n, -3, -0.05)
        steps.append({"reward": round(random.uniform(-0.3, 0.8), 4), "logProbs": old,
                      "reference": [round(v + random.uniform(-0.8, 0.8), 4) for v in old], "values": numbers(n, -0.5, 1)})
    episodes.append({"task": task, "success": success, "vstar": round(random.uniform(0, 1), 4),
                     "return": round(sum(step["reward"] for step in steps), 4), "steps": steps})

weights = torch.zeros(E, A)
old = torch.zeros(E, A)
reference = torch.zeros(E, A)
old_values = torch.zeros(E, A)
for e, episode in enumerate(episodes):
    flat = [(l, r, v) for step in episode["steps"] for l, r, v in zip(step["logProbs"], step["reference"], step["values"])]
    for t, (l, r, v) in enumerate(flat):
        weights[e, t], old[e, t], reference[e, t], old_values[e, t] = 1, l, r, v
count = weights.sum(1)
new = (old + 0.5 * torch.randn(E, A)) * 1.0
new = torch.round(torch.where(weights > 0, new.clamp(max=-0.01), torch.full_like(new, -30.0)), decimals=4)
entropies = torch.round(torch.rand(E, A) * 2, decimals=4)
values = torch.round(old_values + 0.6 * torch.randn(E, A), decimals=4)
kl_full = torch.round(torch.rand(E, A), decimals=4)


def reward(kind):
    return torch.tensor([(1.0 if e["success"] else 0.0) if kind == "binary" else e["return"] for e in episodes])


vstar = torch.tensor([e["vstar"] for e in episodes])
steps_taken = torch.tensor([float(len(e["steps"])) for e in episodes])


def token_mean(x):
    return (x * weights).sum() / weights.sum()


def normalised(a):
    return (a - a.mean()) / (a.std() + 1e-8)


def kl(log_probs, full, s):
    if s["klCoefficient"] == 0:
        return torch.tensor(0.0)
    if s["klEstimator"] == "full":
        return token_mean(full)
    d = torch.where(weights > 0, reference - log_probs, torch.zeros_like(log_probs))
    return token_mean(d.exp() - d - 1)


def length(s):
    return count.clamp(min=1) if s["lengthNormalise"] else torch.ones(E)


def sequence(log_probs, s):
    return (log_probs * weights).sum(1) / length(s)


def astar_po(lp, h, v, k, s, kind):
    residual = s["beta2"] * ((lp * weights).sum(1) - (reference * weights).sum(1)) - (reward(kind) - vstar)
    return (residual ** 2).mean() - s["entropyBonus"] * token_mean(h)


def astar_pg(lp, h, v, k, s, kind):
    ratio = ((reference - old) * weights).sum(1) / length(s)
    a = (reward(kind) + s["beta"] * ratio - vstar).clamp(-s["clampAdvantage"], s["clampAdvantage"])
    return (-sequence(lp, s) * a).mean() + s["klCoefficient"] * kl(lp, k, s) - s["entropyBonus"] * token_mean(h)


def sft(a, lp, h, k, s):
    w = (normalised(a).clamp(-s["clampAdvantage"], s["clampAdvantage"]) + 1).clamp(s["weightLow"], s["weightHigh"])
    return (w * -sequence(lp, s)).mean() + s["klCoefficient"] * kl(lp, k, s) - s["entropyBonus"] * token_mean(h)


def weighted_sft(lp, h, v, k, s, kind):
    return sft(reward(kind) - vstar, lp, h, k, s)


def hybrid(lp, h, v, k, s, kind):
    r = torch.tensor([1.0 if e["success"] else s["partialCredit"] * min(1, max(0, e["return"])) for e in episodes])
    return sft(r - vstar, lp, h, k, s)


def reinforce(lp, h, v, k, s, kind):
    a = (reward(kind) - s["stepPenalty"] * steps_taken - vstar).clamp(-s["clampAdvantage"], s["clampAdvantage"])
    return -(sequence(lp, s) * a).mean() - s["entropyBonus"] * token_mean(h)


def reinforce_fixed(lp, h, v, k, s, kind):
    a = reward(kind) - s["stepPenalty"] * steps_taken - vstar
    limit = max(s["clipFloor"], s["clipSpread"] * (a ** 2).mean().sqrt().item())
    a = a.clamp(-limit, limit)
    return -(sequence(lp, s) * a).mean() + s["klCoefficient"] * kl(lp, k, s) - s["entropyBonus"] * token_mean(h)


def surrogate(lp, a, s, mask):
    ratio = torch.exp(torch.where(weights > 0, lp - old, torch.zeros_like(lp)))
    cut = torch.clamp(ratio, 1 - s["clipLow"], 1 + s["clipHigh"])
    return -(torch.min(ratio * a, cut * a) * mask).sum() / mask.sum()


def grpo(lp, h, v, k, s, kind):
    r = reward(kind)
    a = torch.zeros(E)
    spreads = {}
    for task in dict.fromkeys(TASKS):
        members = [i for i, t in enumerate(TASKS) if t == task]
        own = r[members]
        spreads[task] = own.std().item()
        for i in members:
            a[i] = (r[i] - own.mean()) / (own.std() + 1e-6) if s["divideBySpread"] else r[i] - own.mean()
    kept = sorted(spreads, key=lambda t: -spreads[t])[: max(1, math.ceil(len(spreads) * s["filter"] - 1e-9))]
    keep = torch.tensor([1.0 if t in kept else 0.0 for t in TASKS])
    mask = weights * keep[:, None]
    a = a.clamp(-s["clampAdvantage"], s["clampAdvantage"])[:, None].expand(E, A)
    mean = lambda x: (x * mask).sum() / mask.sum()
    loss = surrogate(lp, a, s, mask) - s["entropyBonus"] * mean(h)
    if s["klCoefficient"] > 0:
        d = torch.where(weights > 0, reference - lp, torch.zeros_like(lp))
        loss = loss + s["klCoefficient"] * mean(k if s["klEstimator"] == "full" else d.exp() - d - 1)
    return loss


def advantages_of(s, kind):
    a, returns = torch.zeros(E, A), torch.zeros(E, A)
    for e, episode in enumerate(episodes):
        n = int(count[e])
        rewards, ends, at = [0.0] * n, [], -1
        for i, step in enumerate(episode["steps"]):
            got = step["reward"] if kind == "shaped" else float(episode["success"] and i == len(episode["steps"]) - 1)
            at += len(step["logProbs"])
            rewards[at] += got
            if step["logProbs"]:
                ends.append(at)
        v = [old_values[e, t].item() for t in range(n)]
        if s["bilevel"]:  # RAGEN: GAE over the turns' last tokens; then afresh inside each turn
            last = 0.0
            turn_return = {}
            for i in reversed(range(len(ends))):
                following = v[ends[i + 1]] if i + 1 < len(ends) else 0.0
                last = rewards[ends[i]] + s["gammaTurn"] * following - v[ends[i]] + s["gammaTurn"] * s["lambda"] * last
                turn_return[ends[i]] = last + v[ends[i]]
            for end, value in turn_return.items():
                rewards[end] = value
        last = 0.0
        for t in reversed(range(n)):
            following = v[t + 1] if t + 1 < n else 0.0
            if s["bilevel"] and t in ends:
                following, last = 0.0, 0.0
            last = rewards[t] + s["gamma"] * following - v[t] + s["gamma"] * s["lambda"] * last
            a[e, t], returns[e, t] = last, last + v[t]
    if s["normaliseAdvantages"]:
        flat = a[weights > 0]
        a = torch.where(weights > 0, (a - flat.mean()) / (flat.std() + 1e-8), torch.zeros_like(a))
    return a.clamp(-s["clampAdvantage"], s["clampAdvantage"]), returns


def ppo(lp, h, v, k, s, kind):
    a, returns = advantages_of(s, kind)
    value = (v - returns) ** 2
    if s["valueClip"] > 0:
        near = old_values + (v - old_values).clamp(-s["valueClip"], s["valueClip"])
        value = torch.max(value, (near - returns) ** 2)
    return (surrogate(lp, a, s, weights) + s["klCoefficient"] * kl(lp, k, s) - s["entropyBonus"] * token_mean(h)
            + s["valueCoefficient"] * 0.5 * token_mean(value))


KL = {"klCoefficient": 0.02, "klEstimator": "k3"}
SFT = {"clampAdvantage": 3, "weightLow": 0.1, "weightHigh": 5, "lengthNormalise": True, "entropyBonus": 0, **KL}
CLIPS = {"clipLow": 0.2, "clipHigh": 0.28, "epochs": 1, "minibatches": 1, "entropyBonus": 0.001}
GRPO = {"group": 3, "divideBySpread": True, "clampAdvantage": 5, "filter": 1, **CLIPS, **KL}
PPO = {"gamma": 0.99, "lambda": 0.95, "bilevel": False, "gammaTurn": 0.95, "normaliseAdvantages": True, "clampAdvantage": 5,
       "valueCoefficient": 0.5, "valueClip": 0.5, **CLIPS, **KL}
cases = [
    ("astar-po", astar_po, {"beta2": 0.03, "entropyBonus": 0.001}, "binary"),
    ("astar-po", astar_po, {"beta2": 0.3, "entropyBonus": 0}, "shaped"),
    ("astar-pg", astar_pg, {"beta": 0.5, "clampAdvantage": 3, "lengthNormalise": True, "entropyBonus": 0.01, **KL}, "binary"),
    ("astar-pg", astar_pg, {"beta": 0.5, "clampAdvantage": 1, "lengthNormalise": False, "entropyBonus": 0, **KL, "klEstimator": "full"}, "shaped"),
    ("weighted-sft", weighted_sft, SFT, "binary"),
    ("weighted-sft", weighted_sft, {**SFT, "lengthNormalise": False, "klEstimator": "full", "entropyBonus": 0.01}, "shaped"),
    ("reinforce", reinforce, {"stepPenalty": 0.1, "clampAdvantage": 10, "lengthNormalise": False, "entropyBonus": 0}, "shaped"),
    ("reinforce", reinforce, {"stepPenalty": 0, "clampAdvantage": 0.5, "lengthNormalise": True, "entropyBonus": 0.01}, "binary"),
    ("reinforce-fixed", reinforce_fixed, {"stepPenalty": 0, "clipSpread": 1, "clipFloor": 0.1, "lengthNormalise": False, "entropyBonus": 0.01, **KL}, "binary"),
    ("hybrid", hybrid, {"partialCredit": 0.5, **SFT}, "binary"),
    ("grpo", grpo, GRPO, "shaped"),
    ("grpo", grpo, {**GRPO, "divideBySpread": False, "filter": 0.5, "klEstimator": "full"}, "binary"),
    ("ppo", ppo, PPO, "shaped"),
    ("ppo", ppo, {**PPO, "bilevel": True, "normaliseAdvantages": False}, "shaped"),
    ("ppo", ppo, {**PPO, "gamma": 1, "lambda": 1, "valueClip": 0, "klCoefficient": 0}, "binary"),
]

answers = []
for name, formula, settings, kind in cases:
    leaves = [x.clone().requires_grad_(True) for x in (new, entropies, values, kl_full)]
    loss = formula(*leaves, settings, kind)
    grads = torch.autograd.grad(loss, leaves, allow_unused=True)
    grads = [torch.zeros(E, A) if g is None else g for g in grads]
    assert math.isfinite(loss.item()) and all(torch.isfinite(g).all() for g in grads), name
    keys = ("logProbs", "entropies", "values", "kl")
    answers.append({"id": name, "settings": settings, "reward": kind, "loss": loss.item(),
                    "gradients": {key: [round(x, 9) for x in g.flatten().tolist()] for key, g in zip(keys, grads)}})

out = os.path.join(os.path.dirname(os.path.abspath(__file__)), "algorithms.json")
with open(out, "w") as file:
    json.dump({"shape": [E, A], "episodes": episodes, "logProbs": new.flatten().tolist(), "entropies": entropies.flatten().tolist(),
               "values": values.flatten().tolist(), "kl": kl_full.flatten().tolist(), "cases": answers}, file, separators=(",", ":"))
print(f"{out}: {len(answers)} cases, {E} episodes")
