"""The PyTorch side of `npm run bench -- engine`: the same decoder-only Transformer in idiomatic PyTorch.

Speaks one JSON object per line on stdin and stdout (train, step, sample, gemm, memory), so that the benchmark can let
the two sides take turns and stop the one that is idle. Times are measured here, around the work only.
"""

import json
import math
import resource
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

from peer_model import Block, RMSNorm


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embedding = nn.Embedding(config["vocabulary"], config["width"])
        self.blocks = nn.ModuleList(Block(config) for _ in range(config["layers"]))
        self.norm = RMSNorm(config["width"])
        head = config["width"] // config["heads"]
        angles = torch.arange(config["contextLength"])[:, None] * 10000.0 ** (-torch.arange(0, head, 2) / head)
        self.register_buffer("cos", torch.cat([angles, angles], -1).cos())
        self.register_buffer("sin", torch.cat([angles, angles], -1).sin())
        length = config["contextLength"]
        self.register_buffer("mask", torch.full((length, length), -math.inf).triu(1))
        nn.init.normal_(self.embedding.weight, std=0.02)

    def forward(self, tokens, caches=None, start=0):
        length = tokens.shape[1]
        rotary = self.cos[start : start + length], self.sin[start : start + length]
        mask = self.mask[:length, :length] if length > 1 else None
        x = self.embedding(tokens)
        for i, block in enumerate(self.blocks):
            x = block(x, rotary, mask, caches[i] if caches else None, start)
        return F.linear(self.norm(x), self.embedding.weight)


class Peer:
    def train(self, request):
        config, batch, length = request["config"], request["batch"], request["length"]
        torch.manual_seed(1)
        self.model = Model(config)
        decay = [p for p in self.model.parameters() if p.dim() > 1]
        others = [p for p in self.model.parameters() if p.dim() <= 1]
        groups = [{"params": decay, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.98))
        self.tokens = torch.randint(config["vocabulary"], (batch, length + 1))
        return {"parameters": sum(p.numel() for p in self.model.parameters())}

    def step(self, request):
        seconds = []
        for _ in range(request["count"]):
            begin = time.perf_counter()
            self.optimizer.zero_grad(set_to_none=True)
            logits = self.model(self.tokens[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), self.tokens[:, 1:].flatten())
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            last = loss.item()
            seconds.append(time.perf_counter() - begin)
        return {"seconds": seconds, "loss": last}

    def sample(self, request):
        """One generation of `length` tokens for `batch` rows from one start token, with log-probabilities."""
        config, batch, length = request["config"], request["batch"], request["length"]
        if getattr(self, "sampled", None) != config:
            torch.manual_seed(1)
            self.model, self.sampled = Model(config).eval(), config
        head = config["width"] // config["heads"]
        shape = (batch, config["heads"], config["contextLength"], head)
        with torch.inference_mode():
            begin = time.perf_counter()
            caches = [(torch.empty(shape), torch.empty(shape)) for _ in self.model.blocks]
            token = torch.zeros(batch, 1, dtype=torch.long)
            log_probs = []
            for position in range(length):
                scores = self.model(token, caches, position)[:, -1].log_softmax(-1)
                token = torch.multinomial(scores.exp(), 1)
                log_probs.append(scores.gather(1, token))
                token.tolist()  # the world needs the tokens at every step
            torch.cat(log_probs, 1).tolist()
            return {"seconds": [time.perf_counter() - begin], "tokens": batch * length}

    def gemm(self, request):
        a, b = torch.randn(request["size"], request["size"]), torch.randn(request["size"], request["size"])
        seconds = []
        for _ in range(request["count"]):
            begin = time.perf_counter()
            a @ b
            seconds.append(time.perf_counter() - begin)
        return {"seconds": seconds}

    def memory(self, request):
        return {"peakBytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}

    def hello(self, request):
        torch.set_num_threads(request["threads"])
        return {"name": f"PyTorch {torch.__version__}", "threads": torch.get_num_threads()}


def main():
    peer = Peer()
    for line in sys.stdin:
        request = json.loads(line)
        answer = getattr(peer, request["command"])(request)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
