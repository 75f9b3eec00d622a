"""What Reenact costs, measured side by side with the packages that record the same work.

`make bench` runs all of it in an environment of its own (`.venv-bench`, with the peers in it) and writes RESULTS.md;
`python -m benchmarks --quick` is the same in a minute or two, with figures to look at rather than to quote.
"""
