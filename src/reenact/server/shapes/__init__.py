"""What the reading routes answer with, as types: the console's own are made from these."""
