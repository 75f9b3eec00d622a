"""The types of the reading routes' answers; the console's types are made from them."""
