"""The camera: record a browser's pictures and page events beside the recording's events."""

from reenact.browser.camera.camera import Camera

__all__ = ["Camera"]
