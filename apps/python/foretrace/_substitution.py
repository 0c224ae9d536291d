"""Graph substitution as a game."""

import os
import typing

from . import _foretrace
from ._common import _configs, _stack


class SubstitutionEnv:
    """Graph substitution as a game, with the calls of gymnasium: the state is a recorded run, an action is a rule at a
    match, the reward is the time that it saves over the time of the recording. The last action ends an episode.

    `rules` are what-ifs; those with a parameter `select` match at every layer. `goal` is "makespan", the simulated
    step, or "sum", the device work of all tasks added up; observations have both."""

    def __init__(self, trace, rules=(), *, goal="makespan"):
        self._environment = _foretrace.SubstitutionEnvironment(os.fspath(trace), _stack(rules), goal, _configs())
        self.actions = self._environment.actions

    def _info(self):
        return {"mask": self._environment.mask(), "taken": self._environment.taken}

    def reset(self, *, seed=None, options=None):
        """Back to the recording: (observation, info). Nothing is random; `seed` is there for those who give one."""
        self._environment.reset()
        return self._environment.cost(), self._info()

    def step(self, action: int):
        """(observation, reward, terminated, truncated, info)."""
        reward, done = self._environment.step(int(action))
        return self._environment.cost(), reward, done, False, self._info()

    def action_masks(self) -> typing.List[bool]:
        """True for the actions that match here."""
        return self._environment.mask()

    def search(self, *, relaxation=1.05, most_states=1000) -> dict:
        """The best state that a best-first search finds from the recording, which follows states of up to `relaxation`
        times the best time."""
        return self._environment.search(float(relaxation), int(most_states))
