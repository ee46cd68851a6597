"""Hypothesis runs the same examples each time; HYPOTHESIS_PROFILE=explore looks further."""

import os

from hypothesis import settings

collect_ignore = ["hostile_guided.py"]  # a program, which needs atheris

settings.register_profile("ci", deadline=None, derandomize=True, database=None, max_examples=60)
settings.register_profile("explore", deadline=None, max_examples=3000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
