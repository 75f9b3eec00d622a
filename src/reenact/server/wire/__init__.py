"""Browser sessions and agents that the server runs for others, and how they are asked for over the network."""
