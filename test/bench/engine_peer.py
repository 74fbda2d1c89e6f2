"""The PyTorch side of `npm run bench -- engine`: the same decoder-only Transformer as PyTorch's best users write it: fused attention,
fused AdamW, and in the mode `compiled` torch.compile for the whole of forward and backward, and a static cache with a compiled
decoding step for sampling. The benchmark starts one process per mode and holds us against the better one.

Speaks one JSON object per line on stdin and stdout (train, step, sample, gemm, memory), so that the benchmark can let
the sides take turns and stop those that are idle. Times are measured here, around the work only.
"""

import json
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
        nn.init.normal_(self.embedding.weight, std=0.02)

    def forward(self, tokens, caches=None, start=0):
        length = tokens.shape[1]
        rotary = self.cos[start : start + length], self.sin[start : start + length]
        return self.logits(tokens, rotary, "causal" if length > 1 else None, caches, start)

    def decode(self, token, caches, place):
        """One token with static caches: `place` [1] is a tensor, so that the same program serves every position."""
        mask = torch.where(torch.arange(len(self.cos)) <= place, 0.0, -1e9)[None]
        return self.logits(token, (self.cos[place], self.sin[place]), mask, caches, place)[:, -1]

    def logits(self, tokens, rotary, mask, caches, start):
        x = self.embedding(tokens)
        for i, block in enumerate(self.blocks):
            x = block(x, rotary, mask, caches[i] if caches else None, start)
        return F.linear(self.norm(x), self.embedding.weight)

    def loss(self, tokens):
        logits = self(tokens[:, :-1])
        return F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


class Peer:
    def train(self, request):
        config, batch, length = request["config"], request["batch"], request["length"]
        torch.manual_seed(1)
        self.model = Model(config)
        decay = [p for p in self.model.parameters() if p.dim() > 1]
        others = [p for p in self.model.parameters() if p.dim() <= 1]
        groups = [{"params": decay, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.98), fused=True)
        self.loss = torch.compile(self.model.loss, dynamic=False) if self.compiled else self.model.loss
        self.tokens = torch.randint(config["vocabulary"], (batch, length + 1))
        return {"parameters": sum(p.numel() for p in self.model.parameters())}

    def step(self, request):
        seconds = []
        for _ in range(request["count"]):
            begin = time.perf_counter()
            self.optimizer.zero_grad(set_to_none=True)
            loss = self.loss(self.tokens)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            last = loss.item()
            seconds.append(time.perf_counter() - begin)
        return {"seconds": seconds, "loss": last}

    def sample(self, request):
        """One generation of `length` tokens for `batch` rows from one start token, with log-probabilities."""
        config, batch, length = request["config"], request["batch"], request["length"]
        if getattr(self, "sampled", None) != (config, batch):
            torch.manual_seed(1)
            self.model, self.sampled = Model(config).eval(), (config, batch)
            self.next = torch.compile(self.draw, dynamic=False) if self.compiled else self.draw
        head = config["width"] // config["heads"]
        shape = (batch, config["heads"], config["contextLength"], head)
        with torch.inference_mode():
            begin = time.perf_counter()
            caches = [(torch.zeros(shape), torch.zeros(shape)) for _ in self.model.blocks]
            token = torch.zeros(batch, 1, dtype=torch.long)
            log_probs = []
            for position in range(length):
                token, log_prob = self.next(token, caches, torch.tensor([position]) if self.compiled else position)
                log_probs.append(log_prob)
                token.tolist()  # the world needs the tokens at every step
            torch.cat(log_probs, 1).tolist()
            return {"seconds": [time.perf_counter() - begin], "tokens": batch * length}

    def draw(self, token, caches, position):
        """Draws by the exponential race, as torch.multinomial does, which would break the compiled program."""
        logits = self.model.decode(token, caches, position) if self.compiled else self.model(token, caches, position)[:, -1]
        scores = logits.log_softmax(-1)
        if self.compiled:
            token = (scores.exp() / torch.empty_like(scores).exponential_()).argmax(-1, keepdim=True)
        else:
            token = torch.multinomial(scores.exp(), 1)
        return token, scores.gather(1, token)

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
        self.compiled = request.get("mode") == "compiled"
        return {"threads": torch.get_num_threads()}


def main():
    peer = Peer()
    for line in sys.stdin:
        request = json.loads(line)
        answer = getattr(peer, request["command"])(request)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
