"""Browser actions as effects: each crosses the boundary, and a replay answers it."""
