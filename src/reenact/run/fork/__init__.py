"""Forking: replay up to a step, then go on live, or with an edited answer; what comes of it is a recording too."""
