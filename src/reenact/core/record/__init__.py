"""Recording: writing down every effect as it happens."""
