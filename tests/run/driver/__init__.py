"""The debugger on real programs."""
