"""Try a script on changed pages: report the broken steps and the rungs that repair them."""
