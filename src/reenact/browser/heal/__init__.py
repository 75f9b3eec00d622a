"""Healing of scripts: failed steps are repaired, or an agent takes over."""
