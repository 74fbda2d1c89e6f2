"""The PyTorch side of `npm run bench -- train`: the same loop over the same model, as PyTorch's best users write it.

Speaks one JSON object per line on stdin and stdout (hello, prepare, update). Each update is read from a file of recorded
episodes: they are played token by token with a key/value cache (the draw is made, then the recorded token is used, so that
both sides see the same episodes), scored by the frozen reference, and learned from with A*PO. The world costs nothing here.
Every phase can be done in several ways: playing whole turns at once, token by token, or token by token with a static cache and a
compiled step; scoring and learning over the whole batch or over buckets of similar length, as written or compiled. The first update
tries them all and keeps the fastest of each.
"""

import json
import math
import struct
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

from peer_model import Block, RMSNorm

PADDING = 0


class Policy(nn.Module):
    """The lab's architecture: match flag, a window over the tokens before, and a pointer that adds to the logits."""

    def __init__(self, config):
        super().__init__()
        width, length = config["width"], config["contextLength"]
        self.config, self.window, self.size = config, config["aids"]["tokenShift"], min(width, 64)
        self.embedding = nn.Embedding(config["vocabulary"], width)
        self.match = nn.Parameter(torch.zeros(width))
        self.shift = nn.ParameterList(nn.Parameter(torch.zeros(width)) for _ in range(self.window))
        self.blocks = nn.ModuleList(Block(config) for _ in range(config["layers"]))
        self.norm = RMSNorm(width)
        self.pointer_query = nn.Linear(width, self.size, bias=False)
        self.pointer_key = nn.Linear(width, self.size, bias=False)
        self.pointer_gate = nn.Linear(width, 1)
        head = width // config["heads"]
        angles = torch.arange(length)[:, None] * 10000.0 ** (-torch.arange(0, head, 2) / head)
        self.register_buffer("cos", torch.cat([angles, angles], -1).cos())
        self.register_buffer("sin", torch.cat([angles, angles], -1).sin())
        self.register_buffer("causal", torch.full((length, length), -math.inf).triu(1))

    def load(self, tensors):
        """The weights of a file of the lab, by their names there."""
        with torch.no_grad():
            self.embedding.weight.copy_(tensors["embedding"])
            self.match.copy_(tensors["match"])
            for back, shift in enumerate(self.shift, 1):
                shift.copy_(tensors[f"shift.{back}"])
            for i, block in enumerate(self.blocks):
                name = f"layer.{i}."
                block.attention_norm.weight.copy_(tensors[name + "attention.norm"])
                block.attention.qkv.weight.copy_(torch.cat([tensors[name + "attention." + part] for part in ("query", "key", "value")]))
                block.attention.output.weight.copy_(tensors[name + "attention.output"])
                block.feed_forward_norm.weight.copy_(tensors[name + "feedForward.norm"])
                block.feed_forward.up.weight.copy_(tensors[name + "feedForward.up"])
                block.feed_forward.down.weight.copy_(tensors[name + "feedForward.down"])
            self.norm.weight.copy_(tensors["norm"])
            self.pointer_query.weight.copy_(tensors["pointer.query"])
            self.pointer_key.weight.copy_(tensors["pointer.key"])
            self.pointer_gate.weight.copy_(tensors["pointer.gate"])
            self.pointer_gate.bias.copy_(tensors["pointer.amount"])

    def embed(self, tokens, flags):
        return self.embedding(tokens) + flags[..., None] * self.match

    def states(self, tokens, flags):
        """Final hidden states of whole sequences."""
        length = tokens.shape[1]
        x = embedded = self.embed(tokens, flags)
        for back, shift in enumerate(self.shift, 1):
            x = x + F.pad(embedded, (0, 0, back, 0))[:, :length] * shift
        rotary = self.cos[:length], self.sin[:length]
        for block in self.blocks:
            x = block(x, rotary, self.causal[:length, :length])
        return self.norm(x)

    def pointed(self, logits, chosen, keys, tokens, hidden_ahead):
        """Adds attention over the context's tokens to their logits; `hidden_ahead` is True where a place must not count."""
        scores = self.pointer_query(chosen) @ keys.transpose(1, 2) * self.size**-0.5
        if hidden_ahead is not None:
            scores = scores.masked_fill(hidden_ahead, -math.inf)
        amounts = scores.softmax(-1) * self.pointer_gate(chosen)
        return logits.scatter_add(2, tokens[:, None].expand_as(amounts), amounts)

    def log_probs(self, batch):
        """Log-probabilities of the agent's tokens under their masks [rows, tokens], and of all tokens."""
        hidden = self.states(batch["tokens"], batch["flags"])
        positions = batch["positions"]
        chosen = hidden.gather(1, positions[..., None].expand(-1, -1, hidden.shape[-1]))
        ahead = torch.arange(hidden.shape[1]) > positions[..., None]
        logits = self.pointed(F.linear(chosen, self.embedding.weight), chosen, self.pointer_key(hidden), batch["tokens"], ahead)
        every = (logits + batch["table"][batch["masks"]]).log_softmax(-1)
        return every.gather(-1, batch["targets"][..., None])[..., 0] * batch["weights"], every


class Playing:
    """Key/value caches of a batch that is being played. Rows may have padding between their turns; it is masked."""

    def __init__(self, policy, rows, slots):
        config = policy.config
        shape = (rows, config["heads"], slots, config["width"] // config["heads"])
        self.policy, self.used = policy, 0
        self.caches = [(torch.zeros(shape), torch.zeros(shape)) for _ in policy.blocks]
        self.keys = torch.zeros(rows, slots, policy.size)
        self.tokens = torch.zeros(rows, slots, dtype=torch.long)
        self.padding = torch.zeros(rows, slots)  # -1e9 where a slot holds padding
        self.padded = False
        self.recent = torch.zeros(rows, policy.window, config["width"])  # embeddings of the last tokens of each row

    def read(self, tokens, flags, counts, start):
        """Reads `tokens` [rows, n], of which the first counts[row] are real (None: all); gives the logits after the last."""
        policy, (rows, length) = self.policy, tokens.shape
        begin, end = self.used, self.used + length
        embedded = policy.embed(tokens, flags)
        before = torch.cat([self.recent, embedded], 1)
        x = embedded
        for back, shift in enumerate(policy.shift, 1):
            x = x + before[:, policy.window - back : policy.window - back + length] * shift
        self.tokens[:, begin:end] = tokens
        if counts is None:
            self.recent = before[:, length:]
            rotary = policy.cos[start : start + length], policy.sin[start : start + length]
        else:
            places = counts[:, None] + torch.arange(policy.window)
            self.recent = before.gather(1, places[..., None].expand(-1, -1, before.shape[-1]))
            at = (start[:, None] + torch.arange(length)).clamp_(max=len(policy.cos) - 1)
            rotary = policy.cos[at][:, None], policy.sin[at][:, None]
            self.padding[:, begin:end].masked_fill_(torch.arange(length) >= counts[:, None], -1e9)
            self.padded = True
        mask = self.padding[:, None, None, :end] if self.padded else None
        if length > 1:
            causal = F.pad(policy.causal[:length, :length], (begin, 0))
            mask = causal if mask is None else mask + causal
        for block, cache in zip(policy.blocks, self.caches):
            x = block(x, rotary, mask, cache, begin)
        hidden = policy.norm(x)
        self.keys[:, begin:end] = policy.pointer_key(hidden)
        self.used = end
        last = hidden[:, -1:] if counts is None else hidden[torch.arange(rows), (counts - 1).clamp(min=0)][:, None]
        hidden_places = self.padding[:, None, :end] < 0 if self.padded else None
        if length > 1:
            ahead = torch.arange(end) > begin + (counts[:, None] if counts is not None else length) - 1
            hidden_places = ahead.view(-1, 1, end) if hidden_places is None else hidden_places | ahead.view(-1, 1, end)
        logits = F.linear(last, policy.embedding.weight)
        return policy.pointed(logits, last, self.keys[:, :end], self.tokens[:, :end], hidden_places)[:, 0]


class StaticPlaying:
    """Static key/value caches, one token per row and call, the place as a tensor: one compiled program for every call."""

    def __init__(self, policy, rows, slots):
        config = policy.config
        shape = (rows, config["heads"], slots, config["width"] // config["heads"])
        self.policy, self.rows = policy, rows
        self.caches = [(torch.zeros(shape), torch.zeros(shape)) for _ in policy.blocks]
        self.keys = torch.zeros(rows, slots, policy.size)
        self.tokens = torch.zeros(rows, slots, dtype=torch.long)
        self.embedded = torch.zeros(rows, slots + policy.window, config["width"])  # shifted by the window, which is zeros
        self.step = torch.compile(self.one, dynamic=False)

    def read(self, tokens, flags, place):
        return self.step(tokens, flags, place)

    def one(self, tokens, flags, place):
        policy = self.policy
        self.tokens.index_copy_(1, place, tokens)
        x = policy.embed(tokens, flags)
        self.embedded.index_copy_(1, place + policy.window, x)
        for back, shift in enumerate(policy.shift, 1):
            x = x + self.embedded.index_select(1, place + policy.window - back) * shift
        slots = torch.arange(self.tokens.shape[1])
        mask = torch.where(slots <= place, 0.0, -1e9)[None]
        for block, cache in zip(policy.blocks, self.caches):
            x = block(x, (policy.cos[place], policy.sin[place]), mask, cache, place)
        hidden = policy.norm(x)
        self.keys.index_copy_(1, place, policy.pointer_key(hidden))
        logits = F.linear(hidden, policy.embedding.weight)
        return policy.pointed(logits, hidden, self.keys, self.tokens, (slots > place)[None, None])[:, 0]


class Peer:
    def hello(self, request):
        torch.set_num_threads(request["threads"])
        self.now = time.process_time if request["clock"] == "cpu" else time.perf_counter
        return {"threads": torch.get_num_threads()}

    def prepare(self, request):
        torch.manual_seed(1)
        self.beta2, self.bonus, self.optimizer_settings = request["beta2"], request["entropyBonus"], request["optimizer"]
        tensors = read_safetensors(request["weights"])
        self.policy, self.reference = Policy(request["model"]), Policy(request["model"])
        self.policy.load(tensors)
        self.reference.load(tensors)
        self.reference.requires_grad_(False)
        o = self.optimizer_settings
        self.optimizer = torch.optim.AdamW(
            self.policy.parameters(),
            lr=o["learningRate"],
            betas=(o["beta1"], o["beta2"]),
            eps=o["epsilon"],
            weight_decay=o["weightDecay"],
            fused=True,
        )
        self.compiled = {policy: torch.compile(policy.log_probs, dynamic=True) for policy in (self.policy, self.reference)}
        self.ways = None
        return {"parameters": sum(p.numel() for p in self.policy.parameters())}

    def update(self, request):
        """One update: play, score, learn; the seconds of each. Like ours, both count turning lists of tokens into tensors, once;
        reading the file is not counted, and the world, its grammar and its words cost nothing here."""
        with open(request["file"]) as file:
            recorded = json.load(file)
        vocabulary = self.policy.config["vocabulary"]
        begin = self.now()
        batch = collate(recorded, vocabulary)
        whole = self.now() - begin
        begin = self.now()
        parts = [collate(recorded, vocabulary, rows) for rows in buckets(recorded["rows"])]
        cut = self.now() - begin
        if self.ways is None:
            self.ways = self.fastest_ways(recorded, batch, parts)
        collating = whole if self.ways["update"].startswith("whole") else cut
        seconds = {"rollout": self.timed(lambda: self.play(self.ways["rollout"], recorded, batch))}
        seconds["scoring"] = collating + self.timed(lambda: self.score(self.ways["scoring"], batch, parts))
        seconds["update"] = self.timed(lambda: self.learn(self.ways["update"], batch, parts))
        seconds["total"] = sum(seconds.values())
        return {"seconds": seconds, "loss": self.loss, "play": ", ".join(self.ways.values()), "drift": self.drift(batch)}

    def fastest_ways(self, recorded, batch, parts):
        """Tries every way of every phase (the first call of a compiled one compiles it) and keeps the fastest."""

        def best(names, work):
            tried = {name: min(self.timed(lambda: work(name)) for _ in range(3)) for name in names}
            return min(tried, key=tried.get)

        ways = {"rollout": best([*SCHEDULES, STATIC], lambda way: self.play(way, recorded, batch))}
        ways["scoring"] = best(PASSES, lambda way: self.score(way, batch, parts))
        ways["update"] = best(PASSES, lambda way: self.learn(way, batch, parts, step=False))
        return ways

    def play(self, way, recorded, batch):
        if way == STATIC:
            self.static_rollout(recorded["rows"], batch)
        else:
            self.rollout(SCHEDULES[way](recorded["rows"]), batch)

    def timed(self, work):
        begin = self.now()
        work()
        return self.now() - begin

    def rollout(self, calls, batch):
        with torch.inference_mode():
            playing = Playing(self.policy, len(batch["tokens"]), sum(call["tokens"].shape[1] for call in calls))
            played = torch.zeros_like(batch["weights"])
            for call in calls:
                logits = playing.read(call["tokens"], call["flags"], call["counts"], call["start"])
                if call["draws"] is None:
                    continue
                row, index = call["draws"]
                if len(row) < len(logits):
                    logits = logits[row]
                log_probs = (logits + batch["table"][batch["masks"][row, index]]).log_softmax(-1)
                drawn = torch.multinomial(log_probs.exp(), 1)
                drawn.tolist()  # the world needs the tokens at every step
                played[row, index] = log_probs.gather(1, batch["targets"][row, index][:, None])[:, 0]
            self.played = played

    def static_rollout(self, rows, batch):
        """Every row reads one token per call into a static cache; one compiled program serves every place."""
        calls = token_by_token(rows)
        slots = len(self.policy.cos)
        if getattr(self, "static", None) is None or self.static.rows != len(rows):
            self.static = StaticPlaying(self.policy, len(rows), slots)
        with torch.inference_mode():
            played = torch.zeros_like(batch["weights"])
            for place, call in enumerate(calls):
                logits = self.static.read(call["tokens"], call["flags"], torch.tensor([place]))
                if call["draws"] is None:
                    continue
                row, index = call["draws"]
                log_probs = (logits[row] + batch["table"][batch["masks"][row, index]]).log_softmax(-1)
                drawn = torch.multinomial(log_probs.exp(), 1)
                drawn.tolist()
                played[row, index] = log_probs.gather(1, batch["targets"][row, index][:, None])[:, 0]
            self.played = played

    def log_probs_of(self, policy, way, part):
        return (self.compiled[policy] if way.endswith("compiled") else policy.log_probs)(part)

    def score(self, way, batch, parts):
        with torch.no_grad():
            total = torch.zeros(len(batch["advantage"]))
            for part in [batch] if way.startswith("whole") else parts:
                total += self.sum_of_episodes(self.log_probs_of(self.reference, way, part)[0], part)
            self.referenced = total

    def learn(self, way, batch, parts, step=True):
        """The loss is a mean over all episodes and tokens; every part adds its share, and gradients accumulate."""
        self.optimizer.zero_grad(set_to_none=True)
        episodes, tokens, total = len(batch["advantage"]), batch["weights"].sum(), 0.0
        for part in [batch] if way.startswith("whole") else parts:
            log_probs, every = self.log_probs_of(self.policy, way, part)
            here = part["episode"].unique()
            ratio = (self.sum_of_episodes(log_probs, part) - self.referenced)[here]
            regression = (self.beta2 * ratio - batch["advantage"][here]).square().sum() / episodes
            entropy = -((every.exp() * every).sum(-1) * part["weights"]).sum() / tokens
            loss = regression - self.bonus * entropy
            loss.backward()
            total += loss.item()
        self.loss = total
        if step:
            nn.utils.clip_grad_norm_(self.policy.parameters(), self.optimizer_settings["clip"])
            self.optimizer.step()

    def sum_of_episodes(self, x, batch):
        return torch.zeros(len(batch["advantage"])).index_add(0, batch["episode"], x.sum(1))

    def drift(self, batch):
        """How far the sums of log-probabilities while playing were from those of the whole sequences: both must be one model's."""
        if not hasattr(self, "checked"):
            self.checked = (self.sum_of_episodes(self.played, batch) - self.referenced).abs().max().item()
        return self.checked


def buckets(rows, most=32):
    """Rows of similar length together, the rows of an episode never apart."""
    episodes = {}
    for row in rows:
        episodes.setdefault(row["episode"], []).append(row)
    parts, part = [], []
    for own in sorted(episodes.values(), key=lambda own: max(row["positions"][-1] for row in own)):
        if part and len(part) + len(own) > most:
            parts.append(part)
            part = []
        part = part + own
    return parts + [part]


def collate(recorded, vocabulary, rows=None):
    """Recorded rows (all, or some) as tensors, padded to the longest."""
    rows = rows or recorded["rows"]
    pad = lambda name, dtype: nn.utils.rnn.pad_sequence(
        [torch.tensor(row[name], dtype=dtype) for row in rows], batch_first=True, padding_value=PADDING
    )
    table = torch.full((len(recorded["masks"]), vocabulary), -1e9)
    for i, allowed in enumerate(recorded["masks"]):
        table[i, torch.tensor(allowed)] = 0
    batch = {name: pad(name, torch.long) for name in ("positions", "targets", "masks")}
    # A row ends at the last hidden state that predicts a token.
    longest = int(batch["positions"].max()) + 1
    batch["tokens"], batch["flags"] = pad("tokens", torch.long)[:, :longest], pad("flags", torch.float)[:, :longest]
    counts = torch.tensor([len(row["targets"]) for row in rows])
    batch["weights"] = (torch.arange(batch["targets"].shape[1]) < counts[:, None]).float()
    batch["table"], batch["advantage"] = table, torch.tensor(recorded["advantage"])
    batch["episode"] = torch.tensor([row["episode"] for row in rows])
    return batch


def token_by_token(rows):
    """Every row reads one token per call, the world's and its own alike; finished rows read padding to the end."""
    length = max(row["positions"][-1] for row in rows) + 1
    index = [{position: i for i, position in enumerate(row["positions"])} for row in rows]
    calls = []
    for place in range(length):
        tokens = torch.tensor([[row["tokens"][place] if place < len(row["tokens"]) else PADDING] for row in rows])
        flags = torch.tensor([[float(row["flags"][place]) if place < len(row["flags"]) else 0.0] for row in rows])
        draws = [(r, known[place]) for r, known in enumerate(index) if place in known]
        calls.append({"tokens": tokens, "flags": flags, "counts": None, "start": place, "draws": pairs(draws)})
    return calls


def turn_by_turn(rows):
    """Every row reads all of an observation in one call, then the agent's tokens one by one; rows wait for the longest."""
    turns = [split_turns(row) for row in rows]
    read = [0] * len(rows)
    drawn = [0] * len(rows)
    calls = []
    for turn in range(max(len(own) for own in turns)):
        here = [own[turn] if turn < len(own) else (0, 0) for own in turns]
        for step in range(max(said for _, said in here)):
            counts = [(new if step == 0 else 1) if step < said else 0 for new, said in here]
            length = max(counts)
            tokens, flags = torch.full((len(rows), length), PADDING), torch.zeros(len(rows), length)
            start, draws = torch.tensor(read), []
            for r, count in enumerate(counts):
                if count == 0:
                    continue
                tokens[r, :count] = torch.tensor(rows[r]["tokens"][read[r] : read[r] + count])
                flags[r, :count] = torch.tensor(rows[r]["flags"][read[r] : read[r] + count], dtype=torch.float)
                read[r] += count
                draws.append((r, drawn[r]))
                drawn[r] += 1
            calls.append({"tokens": tokens, "flags": flags, "counts": torch.tensor(counts), "start": start, "draws": pairs(draws)})
    return calls


def split_turns(row):
    """For each turn: how many tokens are read before its first draw, and how many tokens are drawn."""
    turns, before = [], -1
    for position in row["positions"]:
        if turns and position == before + 1:
            turns[-1] = (turns[-1][0], turns[-1][1] + 1)
        else:
            turns.append((position - before, 1))
        before = position
    return turns


def pairs(draws):
    return tuple(torch.tensor(part) for part in zip(*draws)) if draws else None


def read_safetensors(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = bytearray(file.read())
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = entry["data_offsets"]
            tensors[name] = torch.frombuffer(data, dtype=torch.float32, count=(end - begin) // 4, offset=begin).view(entry["shape"])
    return tensors


SCHEDULES = {"turn by turn": turn_by_turn, "token by token": token_by_token}
STATIC = "token by token compiled"
PASSES = ["whole batch", "whole batch compiled", "buckets", "buckets compiled"]


def main():
    peer = Peer()
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(getattr(peer, request["command"])(request)), flush=True)


if __name__ == "__main__":
    main()
