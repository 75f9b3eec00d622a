"""A program with a library and its adapter."""

import weather
import weather_adapter

weather_adapter.install(weather)

client = weather.Client()
for city in ("Bern", "Oslo"):
    print(client.now(city))
