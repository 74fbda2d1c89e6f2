"""Writes the lists of tasks: no number is in two splits."""

import json

SPLITS = {"train": [n for n in range(1, 33) if n % 4], "validation": [4, 12, 20, 28], "test": [8, 16, 24, 32]}
for split, numbers in SPLITS.items():
    tasks = [{"id": "find-%d" % n, "seed": n, "target": str(n), "instruction": "Guess my number between 1 and 32.", "data": {"secret": n}} for n in numbers]
    with open(split + ".json", "w") as file:
        json.dump(tasks, file, indent=1)
        file.write("\n")
