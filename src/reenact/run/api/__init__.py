"""Record, replay, fork and resume a block of a program; effects of one's own."""
