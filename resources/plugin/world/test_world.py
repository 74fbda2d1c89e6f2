"""The world by itself, without the lab: python3 -m unittest"""

import unittest

from world import World


class WorldTest(unittest.TestCase):
    def test_the_way_to_the_door_pays(self):
        world = World()
        for seed in range(50):
            world.reset(seed)
            way = "right" if world.door == 8 else "left"
            done, reward = False, 0.0
            while not done:
                _, reward, done, _, _ = world.step(way)
            self.assertEqual(reward, 1.0)

    def test_the_same_seed_is_the_same_world(self):
        self.assertEqual(World().reset(7), World().reset(7))


if __name__ == "__main__":
    unittest.main()
