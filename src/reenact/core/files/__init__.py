"""The files of a run: their recorded states, the tree at a step, and its restoration."""
