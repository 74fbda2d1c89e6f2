"""FrozenLake in Python: cross the ice to the goal without falling into a hole. The map follows from the task's seed; on slippery ice
a step goes astray (to the left or right of where it was meant) with one chance in three each, drawn from the episode's own seed."""

import random

from astrolab_world import serve

MOVES = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1)}
NAMES = list(MOVES)


class FrozenLake:
    def reset(self, seed=0, options=None):
        settings = (options or {}).get("settings", {})
        self.size = int(settings.get("size", 4))
        self.slippery = bool(settings.get("slippery", False))
        self.chance = random.Random("slips %s" % (options or {}).get("episode_seed", seed))
        self.holes = self.make_map(random.Random("map %s" % seed))
        self.place = (0, 0)
        return "Cross the ice from S to G. Holes are O.\n" + self.page(), {"admissible_commands": NAMES}

    def make_map(self, chance):
        """Holes at random until there is a way across."""
        cells = [(row, column) for row in range(self.size) for column in range(self.size)]
        goal = (self.size - 1, self.size - 1)
        while True:
            holes = {cell for cell in cells if cell not in ((0, 0), goal) and chance.random() < 0.2}
            reached, edge = {(0, 0)}, [(0, 0)]
            while edge:
                row, column = edge.pop()
                for down, right in MOVES.values():
                    cell = (row + down, column + right)
                    if cell in cells and cell not in holes and cell not in reached:
                        reached.add(cell)
                        edge.append(cell)
            if goal in reached:
                return holes

    def step(self, action):
        turn = self.chance.choice((-1, 0, 1)) if self.slippery else 0
        down, right = MOVES[NAMES[(NAMES.index(action) + turn) % 4]]
        row = min(max(self.place[0] + down, 0), self.size - 1)
        column = min(max(self.place[1] + right, 0), self.size - 1)
        moved = (row, column) != self.place
        self.place = (row, column)
        info = {"admissible_commands": NAMES, "facts": {"kind": "move", "moved": moved}}
        if self.place in self.holes:
            return "You fell into a hole.", 0.0, True, False, {**info, "failure": "fell into a hole", "success": False}
        if self.place == (self.size - 1, self.size - 1):
            return "You reached the goal.", 1.0, True, False, {**info, "success": True}
        return self.page(), 0.0, False, False, info

    def page(self):
        """One word for each cell, with its place, so that a small policy can look places up."""
        rows = []
        for row in range(self.size):
            cells = []
            for column in range(self.size):
                here = (row, column)
                goal = here == (self.size - 1, self.size - 1)
                cells.append("P" if here == self.place else "O" if here in self.holes else "G" if goal else ".")
            rows.append(" ".join(cells))
        return "\n".join(rows) + "\nYou are at row %d column %d." % (self.place[0] + 1, self.place[1] + 1)


serve(FrozenLake)
