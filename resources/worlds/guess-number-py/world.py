"""Guess a number between 1 and 32; the world says "higher" or "lower". The smallest world in Python that is any fun."""

from astrolab_world import serve

HIGHEST = 32


class GuessNumber:
    def reset(self, seed=0, options=None):
        task = (options or {}).get("task_data") or {}
        self.secret = task.get("secret", 1 + seed % HIGHEST)
        self.low, self.high = 1, HIGHEST
        return "Guess my number between 1 and %d." % HIGHEST, self.info()

    def step(self, action):
        guess = int(action.split()[-1])
        if guess == self.secret:
            return "Right.", 1.0, True, False, {"success": True}
        if guess < self.secret:
            self.low = max(self.low, guess + 1)
        else:
            self.high = min(self.high, guess - 1)
        answer = "Higher." if guess < self.secret else "Lower."
        return "%s It is between %d and %d." % (answer, self.low, self.high), 0.0, False, False, self.info()

    def info(self):
        """The lab can demonstrate, because the world says what it would guess itself: the middle."""
        return {
            "admissible_commands": ["guess %d" % number for number in range(1, HIGHEST + 1)],
            "oracle": "guess %d" % ((self.low + self.high) // 2),
            "facts": {"kind": "guess", "open": self.high - self.low + 1},
        }

    def snapshot(self):
        return [self.secret, self.low, self.high]

    def restore(self, snapshot):
        self.secret, self.low, self.high = snapshot
        return "It is between %d and %d." % (self.low, self.high), None, False, self.info()


serve(GuessNumber)
