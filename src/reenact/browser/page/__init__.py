"""Read a page: its elements, their names and selectors, and what an action may change."""
