"""A library of which Reenact knows nothing: its client asks a service for the weather."""

import json
from urllib.request import urlopen


class Reading:
    def __init__(self, city, degrees):
        self.city, self.degrees = city, degrees

    def __repr__(self):
        return f"{self.city}: {self.degrees} degrees"


class Client:
    units = "celsius"

    def now(self, city):
        with urlopen(f"http://weather.example/now/{city}") as answer:
            return Reading(city, json.load(answer)["degrees"])
