# Credit by the turn with PyTorch in double precision, the tensors laid out as the authors' code has them (one row a turn): GiGPO and GraphGPO
# (verl-agent: gigpo/core_gigpo.py, recipe/GraphGPO), HGPO (recipe/hgpo/core_hgpo.py), VinePPO's Monte Carlo values; and the losses of GSPO, CISPO,
# RLOO, REINFORCE++ and of A*PO and REINFORCE by the turn. Writes test/golden/credit.json: python3 test/golden/make_credit.py
import json
import math
import os
import random
from collections import defaultdict

import torch

torch.manual_seed(11)
random.seed(11)
torch.set_default_dtype(torch.float64)

# task, states before each turn, tokens of each turn, success
EPISODES = [
    ("a", ["s0", "s1", "s2"], [2, 1, 3], True),
    ("a", ["s0", "s2", "s1", "s2"], [1, 2, 2, 1], False),
    ("a", ["s0", "s1", "s3"], [3, 2, 1], False),
    ("a", ["s0", "s1", "s2"], [1, 1, 1], True),
    ("b", ["s0", "s4"], [2, 2], False),
    ("b", ["s0", "s4", "s4", "s5"], [1, 1, 2, 1], False),
    ("b", ["s0", "s6"], [4, 1], True),
    ("c", ["s0"], [2], False),
    ("c", ["s0", "s7"], [1, 3], False),
]
E = len(EPISODES)
A = max(sum(tokens) for _, _, tokens, _ in EPISODES) + 1

episodes = []
for task, states, tokens, success in EPISODES:
    steps = []
    for state, n in zip(states, tokens):
        old = [round(random.uniform(-3, -0.05), 4) for _ in range(n)]
        steps.append({"state": state, "reward": round(random.uniform(-0.3, 0.8), 4), "logProbs": old,
                      "reference": [round(v + random.uniform(-0.8, 0.8), 4) for v in old], "values": [0.0] * n})
    episodes.append({"task": task, "success": success, "vstar": round(random.uniform(0, 1), 4),
                     "return": round(sum(step["reward"] for step in steps), 4), "steps": steps})
branches = [[[[round(random.uniform(-0.2, 0.6), 4) for _ in range(random.randint(1, 3))] for _ in range(3)] for _ in e["steps"]]
            for e in episodes]

weights, old, reference = torch.zeros(E, A), torch.zeros(E, A), torch.zeros(E, A)
turn_of = torch.full((E, A), -1)
for e, episode in enumerate(episodes):
    at = 0
    for t, step in enumerate(episode["steps"]):
        for l, r in zip(step["logProbs"], step["reference"]):
            weights[e, at], old[e, at], reference[e, at], turn_of[e, at] = 1, l, r, t
            at += 1
new = torch.round(torch.where(weights > 0, (old + 0.4 * torch.randn(E, A)).clamp(max=-0.01), torch.full_like(old, -30.0)), decimals=4)

# One row a turn.
rows = [(e, t) for e, episode in enumerate(episodes) for t in range(len(episode["steps"]))]
index = [episodes[e]["task"] for e, _ in rows]
observation = [episodes[e]["steps"][t]["state"] for e, t in rows]


def turn_reward(e, t, kind):
    episode = episodes[e]
    if kind == "shaped":
        return episode["steps"][t]["reward"]
    return float(episode["success"] and t == len(episode["steps"]) - 1)


def to_go(kind, gamma, penalty=0.0):
    out = {}
    for e, episode in enumerate(episodes):
        running = 0.0
        for t in reversed(range(len(episode["steps"]))):
            running = turn_reward(e, t, kind) - penalty + gamma * running
            out[e, t] = running
    return torch.tensor([out[row] for row in rows])


def norm(scores, groups, divide, unbiased=True):
    scores = scores.clone()
    members = defaultdict(list)
    for i, group in enumerate(groups):
        members[group].append(i)
    for group in members.values():
        own = scores[group].clone()
        if len(group) == 1:
            scores[group] = 0.0
        else:
            spread = own.std(unbiased=unbiased) + 1e-6 if divide else 1.0
            scores[group] = (own - own.mean()) / spread
    return scores


def episode_norm(kind, divide):  # compute_mean_std_cross_steps
    totals = torch.tensor([sum(turn_reward(e, t, kind) for t in range(len(episodes[e]["steps"]))) for e, _ in rows])
    return norm(totals, index, divide)


def gigpo(kind, s):
    return episode_norm(kind, s["divideBySpread"]) + s["creditWeight"] * norm(
        to_go(kind, s["creditDiscount"]), list(zip(index, observation)), s["divideBySpread"])


def hgpo(kind, s):
    returns = to_go(kind, s["creditDiscount"])
    clusters = defaultdict(list)
    for i, (e, t) in enumerate(rows):
        for k in range(1, min(s["creditHistory"] + 1, t + 1) + 1):
            clusters[index[i], k, tuple(episodes[e]["steps"][j]["state"] for j in range(t - k + 1, t + 1))].append(i)
    items = defaultdict(list)
    for (_, k, _), group in clusters.items():
        if len(group) > 1:
            own = returns[group]
            a = (own - own.mean()) / (own.std(unbiased=False) + 1e-6) if s["divideBySpread"] else own - own.mean()
            for i, value in zip(group, a):
                if value != 0:
                    items[i].append((k + 1, value.item()))
    out = torch.zeros(len(rows))
    for i, list_ in items.items():
        out[i] = sum(w * a for w, a in list_) / (sum(w for w, _ in list_) + 1e-6)
    return out


def nearness(gamma):
    raw = torch.zeros(len(rows))
    for task in dict.fromkeys(index):
        edges, target = defaultdict(set), {}
        for i, (e, t) in enumerate(rows):
            if index[i] == task:
                steps = episodes[e]["steps"]
                target[i] = steps[t + 1]["state"] if t + 1 < len(steps) else "SUCCESS" if episodes[e]["success"] else f"END {e}"
                edges[target[i]].add(observation[i])
        distance, frontier = {"SUCCESS": 0}, ["SUCCESS"]
        if "SUCCESS" not in edges:
            continue
        while frontier:
            frontier, last = [], frontier
            for node in last:
                for source in sorted(edges[node]):
                    if source not in distance:
                        distance[source] = distance[node] + 1
                        frontier.append(source)
        far = max(distance.values()) + 1
        for i, node in target.items():
            raw[i] = gamma ** distance.get(node, far)
    return raw


def graphgpo(kind, s):
    return episode_norm(kind, s["divideBySpread"]) + s["creditWeight"] * norm(
        nearness(s["creditDiscount"]), list(zip(index, observation)), s["divideBySpread"])


def differences(values, kind, gamma, penalty=0.0, first=None):
    value = {row: v.item() for row, v in zip(rows, values)}
    if first is not None:
        for e, v in enumerate(first):
            value[e, 0] = v
    return torch.tensor([turn_reward(e, t, kind) - penalty + gamma * value.get((e, t + 1), 0.0) - value[e, t] for e, t in rows])


def group_values(returns, groups, combine):
    members = defaultdict(list)
    for i, group in enumerate(groups):
        members[group].append(i)
    out = returns.clone()
    for group in members.values():
        out[group] = combine(returns[group])
    return out


def branch_values(gamma, penalty=0.0):
    total = lambda rewards: sum((r - penalty) * gamma ** i for i, r in enumerate(rewards))
    return torch.tensor([sum(total(x) for x in branches[e][t]) / len(branches[e][t]) for e, t in rows])


def vineppo(kind, s):
    a = differences(branch_values(s["creditDiscount"]), kind, s["creditDiscount"])
    return a / (a.std() + 1e-6) if s["divideBySpread"] else a


def tokens_of(per_turn):
    out = torch.zeros(E, A)
    for (e, t), value in zip(rows, per_turn):
        out[e][turn_of[e] == t] = value
    return out


def token_mean(x):
    return (x * weights).sum() / weights.sum()


def log_ratio(lp):
    return torch.where(weights > 0, lp - old, torch.zeros_like(lp))


def per_turn(x):  # the sum over its turn, at every token
    same = (turn_of[:, :, None] == turn_of[:, None, :]) & (weights[:, None, :] > 0)
    return (same * x[:, None, :]).sum(2) * weights


def surrogate(lp, a, s):
    log = log_ratio(lp)
    if s.get("ratio") == "turn":
        log = per_turn(log) / per_turn(torch.ones(E, A)).clamp(min=1)
    ratio = log.exp()
    cut = ratio.clamp(1 - s["clipLow"], 1 + s["clipHigh"])
    if s.get("ratio") == "weight":
        return -token_mean(cut.detach() * a * torch.where(weights > 0, lp, torch.zeros_like(lp)))
    return -token_mean(torch.min(ratio * a, cut * a))


def clamped(a, s):
    return a.clamp(-s["clampAdvantage"], s["clampAdvantage"])


def grpo(lp, s, kind):
    credit = {"anchor": gigpo, "history": hgpo, "graph": graphgpo, "branch": vineppo}.get(s.get("credit"))
    if credit:
        return surrogate(lp, tokens_of(clamped(credit(kind, s), s)), s)
    r = torch.tensor([sum(turn_reward(e, t, kind) for t in range(len(x["steps"]))) for e, x in enumerate(episodes)])
    a = torch.zeros(E)
    for e in range(E):
        group = [i for i in range(E) if s["baseline"] == "update" or episodes[i]["task"] == episodes[e]["task"]]
        others = [i for i in group if i != e] if s["baseline"] == "others" else group
        a[e] = r[e] - r[others].mean()
        if s["divideBySpread"]:
            a[e] /= r[group].std() + 1e-6
    return surrogate(lp, clamped(a, s)[:, None].expand(E, A), s)


def turn_values(s, kind, combine, penalty=0.0):
    gamma = s["creditDiscount"]
    if s["credit"] == "branch":
        return branch_values(gamma, penalty)
    if s["credit"] == "graph":
        raw = nearness(gamma)
        return group_values(raw, list(zip(index, observation)), torch.max)
    groups = list(zip(index, observation))
    if s["credit"] == "history":
        k = s["creditHistory"]
        groups = [(index[i], tuple(episodes[e]["steps"][j]["state"] for j in range(max(0, t - k), t + 1))) for i, (e, t) in enumerate(rows)]
    return group_values(to_go(kind, gamma, penalty), groups, combine)


def astar_po(lp, s, kind):
    reward = "binary" if s["credit"] == "graph" else kind
    a = tokens_of(differences(turn_values(s, reward, torch.mean), reward, s["creditDiscount"], first=[e["vstar"] for e in episodes]))
    per = per_turn(torch.where(weights > 0, lp - reference, torch.zeros_like(lp)))
    size = per_turn(torch.ones(E, A)).clamp(min=1)
    return (((s["beta2"] * per - a) ** 2) * weights / size).sum() / E


def reinforce(lp, s, kind):
    reward = "binary" if s["credit"] == "graph" else kind
    p = s["stepPenalty"]
    a = differences(turn_values(s, reward, torch.mean, p), reward, s["creditDiscount"], p, first=[e["vstar"] for e in episodes])
    return -(tokens_of(clamped(a, s)) * weights * lp).sum() / E


GRPO = {"group": 3, "baseline": "group", "divideBySpread": True, "clampAdvantage": 5, "filter": 1, "clipLow": 0.2, "clipHigh": 0.28,
        "entropyBonus": 0, "klCoefficient": 0, "creditDiscount": 0.9, "creditWeight": 0.7, "creditHistory": 2}
TURN = {"creditDiscount": 0.9, "creditHistory": 1, "entropyBonus": 0}
cases = [("grpo", grpo, {**GRPO, "credit": credit, "divideBySpread": divide}, kind)
         for credit in ("anchor", "history", "graph", "branch") for divide, kind in ((True, "binary"), (False, "shaped"))]
cases += [("grpo", grpo, {**GRPO, "ratio": ratio}, "shaped") for ratio in ("turn", "weight")]
cases += [("grpo", grpo, {**GRPO, "ratio": "turn", "credit": "anchor"}, "shaped")]
cases += [("grpo", grpo, {**GRPO, "baseline": baseline, "divideBySpread": divide}, "shaped")
          for baseline, divide in (("others", False), ("update", True))]
cases += [("astar-po", astar_po, {**TURN, "beta2": 0.05, "credit": credit}, kind)
          for credit, kind in (("anchor", "shaped"), ("history", "binary"), ("graph", "binary"), ("branch", "shaped"))]
cases += [("reinforce", reinforce, {**TURN, "stepPenalty": 0.1, "clampAdvantage": 0.6, "lengthNormalise": False, "credit": credit}, kind)
          for credit, kind in (("anchor", "shaped"), ("branch", "binary"))]

answers = []
for name, formula, settings, kind in cases:
    leaf = new.clone().requires_grad_(True)
    loss = formula(leaf, settings, kind)
    (grad,) = torch.autograd.grad(loss, [leaf])
    assert math.isfinite(loss.item()) and torch.isfinite(grad).all(), name
    answers.append({"id": name, "settings": settings, "reward": kind, "loss": loss.item(), "gradient": [round(x, 9) for x in grad.flatten().tolist()]})

out = os.path.join(os.path.dirname(os.path.abspath(__file__)), "credit.json")
with open(out, "w") as file:
    json.dump({"shape": [E, A], "episodes": episodes, "branches": branches, "logProbs": new.flatten().tolist(), "cases": answers}, file,
              separators=(",", ":"))
print(f"{out}: {len(answers)} cases, {E} episodes")
