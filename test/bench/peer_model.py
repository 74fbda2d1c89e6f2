"""A block of the lab's Transformer as PyTorch's best users write it today, for the peers of the benchmarks: RMSNorm, rotary
positions, fused attention (scaled_dot_product_attention) with a key/value cache, gated feed-forward. A cache is either cut to what was
read so far (eager), or static with the place to write as a tensor, so that one compiled program serves every token.
"""

import torch
from torch import nn
from torch.nn import functional as F


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.weight


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.output = nn.Linear(width, width, bias=False)

    def forward(self, x, rotary, mask, cache, start):
        """`mask` is "causal", None (everything may be seen) or numbers to add. `start` is where the cache is written: a number, or a
        tensor of places in a static cache, whose unread places the mask must hide."""
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        q, k = rotate(q, rotary), rotate(k, rotary)
        if cache is not None:
            keys, values = cache
            if torch.is_tensor(start):
                keys.index_copy_(2, start, k)
                values.index_copy_(2, start, v)
                k, v = keys, values
            else:
                keys[:, :, start : start + length] = k
                values[:, :, start : start + length] = v
                k, v = keys[:, :, : start + length], values[:, :, : start + length]
        if isinstance(mask, str):
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.output(mixed.transpose(1, 2).reshape(batch, length, width))


class FeedForward(nn.Module):
    def __init__(self, width, hidden, gate):
        super().__init__()
        self.gate = gate
        self.up = nn.Linear(width, hidden, bias=False)
        self.gated = nn.Linear(width, hidden, bias=False) if gate == "swiglu" else None
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        if self.gate == "swiglu":
            return self.down(F.silu(self.gated(x)) * self.up(x))
        if self.gate == "relu2":
            return self.down(F.relu(self.up(x)).square())
        return self.down(F.silu(self.up(x)) if self.gate == "silu" else F.relu(self.up(x)))


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.attention_norm = RMSNorm(config["width"])
        self.attention = Attention(config["width"], config["heads"])
        self.feed_forward_norm = RMSNorm(config["width"])
        self.feed_forward = FeedForward(config["width"], config["feedForward"], config["gate"])

    def forward(self, x, rotary, mask, cache=None, start=0):
        x = x + self.attention(self.attention_norm(x), rotary, mask, cache, start)
        return x + self.feed_forward(self.feed_forward_norm(x))


def rotate(x, rotary):
    cos, sin = rotary
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat([-second, first], -1) * sin
