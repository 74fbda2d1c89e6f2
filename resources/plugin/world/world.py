"""NAME: a corridor of nine places with a door at one end. It works as it is; change it step by step and run the check of README.md after each change."""

import random

from astrolab_world import serve


class World:
    def reset(self, seed=0, options=None):
        chance = random.Random(seed)  # all chance from the seed: the lab replays episodes
        self.place = chance.randrange(1, 8)
        self.door = chance.choice((0, 8))
        return "Walk to the door. " + self.page(), {"admissible_commands": ["left", "right"]}

    def step(self, action):
        self.place += 1 if action == "right" else -1
        if self.place == self.door:
            return "You are through the door.", 1.0, True, False, {"success": True}
        if self.place in (0, 8):
            return "A wall, and no door.", 0.0, True, False, {"success": False, "failure": "walked into the wall"}
        return self.page(), 0.0, False, False, {"admissible_commands": ["left", "right"]}

    def page(self):
        side = "right" if self.door == 8 else "left"
        return "You are at %d. The door is %s." % (self.place, side)


if __name__ == "__main__":
    serve(World)
