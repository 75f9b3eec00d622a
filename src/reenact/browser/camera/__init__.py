"""The camera: what a browser's pages looked like and what happened in them, beside the recording's events."""

from reenact.browser.camera.camera import Camera

__all__ = ["Camera"]
