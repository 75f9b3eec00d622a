"""Run a program or a block under a recorder, a replay, a fork or the debugger."""
