"""Makes the golden language models under test/golden/llm: four tiny models with random weights, a PEFT adapter for each, and what
transformers + PEFT compute with them. Needs torch, transformers, peft and safetensors (no test does). Usage: make_llm.py FOLDER"""

import json
import sys
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM

TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
COMMON = dict(
    vocab_size=300, hidden_size=64, num_hidden_layers=3, num_attention_heads=8, num_key_value_heads=2, intermediate_size=160,
    max_position_embeddings=512, bos_token_id=1, eos_token_id=2,
)
MODELS = {
    "tiny-qwen2": (Qwen2Config, Qwen2ForCausalLM, dict(tie_word_embeddings=True, rms_norm_eps=1e-6, rope_theta=1e6), torch.float32),
    "tiny-llama": (LlamaConfig, LlamaForCausalLM, dict(tie_word_embeddings=False, rms_norm_eps=1e-5, rope_theta=1e4), torch.float32),
    "tiny-qwen3": (Qwen3Config, Qwen3ForCausalLM, dict(tie_word_embeddings=True, rms_norm_eps=1e-6, rope_theta=1e6, head_dim=16), torch.float32),
    "tiny-qwen2-bf16-shards": (Qwen2Config, Qwen2ForCausalLM, dict(tie_word_embeddings=False, rms_norm_eps=1e-6, rope_theta=1e6), torch.bfloat16),
}


def log_probs(model, tokens):
    logits = model(tokens).logits[:, :-1].float()
    return torch.log_softmax(logits, -1).gather(-1, tokens[:, 1:, None])[..., 0]


def randomise(model):
    for name, parameter in model.named_parameters():
        noise = torch.randn_like(parameter)
        if "norm" in name:
            parameter.data = 1 + 0.1 * noise
        elif name.endswith("bias"):
            parameter.data = 0.3 * noise
        elif "embed" in name or "lm_head" in name:
            parameter.data = 0.5 * noise
        else:
            parameter.data = noise / parameter.shape[1] ** 0.5


def make(name, folder):
    config_class, model_class, extra, dtype = MODELS[name]
    torch.manual_seed(len(name))
    model = model_class(config_class(**COMMON, **extra))
    randomise(model)
    model.to(dtype).save_pretrained(folder, max_shard_size="200KB" if "shards" in name else "1GB")
    # Read back as users do: the weights are rounded to their type, but the rotary frequencies are not.
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
    tokens = torch.randint(0, 300, (3, 33), generator=torch.Generator().manual_seed(7))
    golden = {"tokens": tokens.tolist(), "logProbs": log_probs(model, tokens).tolist()}
    greedy = model.generate(tokens[:1, :8], max_new_tokens=24, do_sample=False, eos_token_id=None, pad_token_id=0)[0].tolist()
    golden["greedy"] = {"prompt": greedy[:8], "continuation": greedy[8:]}

    tuned = get_peft_model(model, LoraConfig(r=4, lora_alpha=8, target_modules=TARGETS, lora_dropout=0.0, task_type="CAUSAL_LM"))
    torch.manual_seed(11)
    for parameter_name, parameter in tuned.named_parameters():
        if "lora_B" in parameter_name:
            parameter.data = 0.05 * torch.randn_like(parameter)
    tuned.save_pretrained(folder / "adapter")
    trained = {key.replace(".default", ""): value for key, value in tuned.named_parameters() if value.requires_grad}

    def loss():
        return -log_probs(tuned, tokens)[:, 20:].mean()

    before = loss()
    golden["adapter"] = {"logProbs": log_probs(tuned, tokens).tolist(), "loss": before.item()}
    before.backward()
    gradients = {key: value.grad.clone() for key, value in trained.items()}
    save_file(gradients, folder / "adapter_gradients.safetensors")
    golden["adapter"]["gradient_norm"] = torch.sqrt(sum((gradient**2).sum() for gradient in gradients.values())).item()
    optimizer = torch.optim.AdamW(trained.values(), lr=1e-3, betas=(0.9, 0.98), eps=1e-8, weight_decay=0.0)
    golden["adamw"] = {"losses": []}
    for _ in range(10):
        optimizer.zero_grad()
        now = loss()
        now.backward()
        torch.nn.utils.clip_grad_norm_(trained.values(), 1.0)
        optimizer.step()
        golden["adamw"]["losses"].append(now.item())
    (folder / "golden.json").write_text(json.dumps(golden))


if __name__ == "__main__":
    for each in MODELS:
        make(each, Path(sys.argv[1]) / each)
