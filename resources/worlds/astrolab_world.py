"""Makes a Gymnasium-style class a world of Astrolab. One file, standard library only; copy it, or just import it (Astrolab puts it on the path).

    from astrolab_world import serve

    class Coin:
        def reset(self, seed=None, options=None):
            self.side = "heads" if seed % 2 else "tails"
            return "Heads or tails?", {"admissible_commands": ["heads", "tails"]}

        def step(self, action):
            won = action == self.side
            return ("Right." if won else "Wrong."), float(won), True, False, {}

    serve(Coin)

`reset` returns (observation, info), `step` returns (observation, reward, terminated, truncated, info), as in Gymnasium. The observation is a text, or
anything that str() turns into one. What the lab understands in `info`: admissible_commands, success, valid, reason, failure, facts, oracle. A class may also have
`snapshot()` (plain data) and `restore(snapshot)`; without them the lab replays seed and actions where it has to go back.
`options` of `reset` holds what else the lab knows: episode_seed (chance inside the episode, where seed stands for the task), task_id, task_data, settings.
"""

import inspect
import json
import os
import sys
import traceback


def serve(make, action_field="message", observation_field="text"):
    """Answers the lab's messages until standard input ends. `make()` makes one environment for every episode that is open at once."""
    out = os.dup(1)
    os.dup2(2, 1)  # what the world prints goes to standard error: standard output carries messages only
    sys.stdout = sys.stderr
    world = _World(make, action_field, observation_field)
    pending = b""
    while True:
        chunk = os.read(0, 1 << 16)
        if not chunk:
            return
        lines = (pending + chunk).split(b"\n")
        pending = lines.pop()
        answers = []
        for line in lines:
            if line.strip():
                answer = world.answer(line)
                if answer is None:  # close without an episode: the lab is done
                    return
                answers.append(answer)
        if answers:
            _write(out, ("\n".join(answers) + "\n").encode())


def _write(out, data):
    while data:
        data = data[os.write(out, data):]


class _World:
    def __init__(self, make, action_field, observation_field):
        self.make = make
        self.action_field = action_field
        self.observation_field = observation_field
        self.episodes = {}

    def answer(self, line):
        episode = None
        try:
            message = json.loads(line)
            kind = message.get("type")
            data = message.get("data") or {}
            episode = message.get("episode_id", data.get("episode_id", "e"))
            if kind == "close" and "episode_id" not in message:
                return None
            handler = getattr(self, "on_" + str(kind), None)
            if handler is None:
                return _error("There is no message of the type %r" % (kind,), "UNKNOWN_TYPE", episode)
            answer = handler(episode, data)
            answer["episode_id"] = episode
            return _text(answer)
        except Exception as problem:  # the episode ends with this text; the trace is for the author
            traceback.print_exc(file=sys.stderr)
            return _error("%s: %s" % (type(problem).__name__, problem), "EXECUTION_ERROR", episode)

    def on_reset(self, episode, data):
        environment = self.episodes.get(episode) or self.make()
        self.episodes[episode] = environment
        seed = data.get("seed")
        options = {key: value for key, value in data.items() if key not in ("seed", "episode_id")}
        result = _reset(environment, seed, options)
        observation, info = result if isinstance(result, tuple) and len(result) == 2 else (result, {})
        return self.turn(environment, observation, None, False, info)

    def on_step(self, episode, data):
        environment = self.episodes.get(episode)
        if environment is None:
            raise RuntimeError("step came before reset")
        action = data[self.action_field] if self.action_field in data else data.get("action")
        result = environment.step(action)
        if len(result) == 5:
            observation, reward, terminated, truncated, info = result
        else:  # the old form of Gym
            observation, reward, terminated, info = result
            truncated = False
        return self.turn(environment, observation, reward, bool(terminated) or bool(truncated), info)

    def on_restore(self, episode, data):
        environment = self.make()
        self.episodes[episode] = environment
        return self.turn(environment, *environment.restore(data["snapshot"]))

    def on_state(self, episode, data):
        environment = self.episodes.get(episode)
        state = getattr(environment, "state", None)
        return {"type": "state", "data": state if isinstance(state, dict) else {"episode_id": episode}}

    def on_close(self, episode, data):
        self.episodes.pop(episode, None)
        return {"type": "closed", "data": {}}

    def on_metadata(self, episode, data):
        return {"type": "metadata", "data": {"name": getattr(self.make, "__name__", "world"), "description": inspect.getdoc(self.make) or ""}}

    def on_schema(self, episode, data):
        text = {"type": "string"}
        return {
            "type": "schema",
            "data": {
                "action": {"type": "object", "properties": {self.action_field: text}, "required": [self.action_field]},
                "observation": {"type": "object", "properties": {self.observation_field: text}},
                "state": {"type": "object"},
            },
        }

    def turn(self, environment, observation, reward, done, info):
        page = dict(observation) if isinstance(observation, dict) else {self.observation_field: str(observation)}
        data = {"observation": page, "reward": None if reward is None else float(reward), "done": bool(done)}
        for name in ("admissible_commands", "success", "valid", "reason", "failure", "facts", "oracle"):
            if info and info.get(name) is not None:
                data[name] = info[name]
        if hasattr(environment, "snapshot"):
            data["snapshot"] = environment.snapshot()
        return {"type": "observation", "data": data}


def _reset(environment, seed, options):
    """Gymnasium's reset takes seed and options; classes written in a hurry take one of them, or none."""
    try:
        names = inspect.signature(environment.reset).parameters
    except (TypeError, ValueError):
        names = {"seed": None}
    takes_all = any(getattr(name, "kind", None) is inspect.Parameter.VAR_KEYWORD for name in names.values())
    arguments = {"seed": seed, "options": options}
    return environment.reset(**{key: value for key, value in arguments.items() if takes_all or key in names})


def _error(message, code, episode):
    return _text({"type": "error", "episode_id": episode, "data": {"message": message, "code": code}})


_text = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
