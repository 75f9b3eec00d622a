"""The version of Reenact, for the modules below the package's public names."""

VERSION = "0.2.0"
