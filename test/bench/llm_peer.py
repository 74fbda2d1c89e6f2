"""The PyTorch side of `npm run bench -- llm`: a LoRA step with transformers and PEFT as their users write it, logits for the agent's positions only and
fused AdamW; in the mode `compiled` with torch.compile. JSON lines in, JSON lines out; random weights of the same shape.
"""

import json
import resource
import sys
import time

import peft
import torch
import transformers

TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


class Peer:
    def hello(self, request):
        torch.set_num_threads(request["threads"])
        self.compiled = request.get("mode") == "compiled"
        return {"threads": torch.get_num_threads()}

    def train(self, request):
        torch.manual_seed(1)
        config = transformers.AutoConfig.from_pretrained(request["folder"])
        model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="sdpa", dtype=torch.float32)
        if request["recompute"]:
            model.gradient_checkpointing_enable({"use_reentrant": False})
            model.enable_input_require_grads()
        model.config.use_cache = False
        self.model = peft.get_peft_model(model, peft.LoraConfig(r=16, lora_alpha=32, target_modules=TARGETS, lora_dropout=0.0))
        self.model.train()
        trained = [p for p in self.model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW(trained, lr=1e-4, fused=True)
        self.tokens = torch.randint(0, 40000, (request["rows"], request["length"] + 1))
        self.agent = request["agent"]
        self.loss = torch.compile(self.objective) if self.compiled else self.objective
        return {"parameters": sum(p.numel() for p in trained)}

    def objective(self):
        logits = self.model(input_ids=self.tokens[:, :-1], logits_to_keep=self.agent).logits
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), self.tokens[:, -self.agent :].flatten())

    def step(self, request):
        seconds = []
        for _ in range(request["count"]):
            begin = time.perf_counter()
            self.loss().backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.optimizer.zero_grad()
            seconds.append(time.perf_counter() - begin)
        return {"seconds": seconds}

    def memory(self, request):
        return {"peakBytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}


def main():
    peer = Peer()
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(getattr(peer, request["command"])(request)), flush=True)


if __name__ == "__main__":
    main()
