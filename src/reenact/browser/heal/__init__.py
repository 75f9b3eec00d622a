"""Scripts that survive a changed page: what fails is mended, or an agent takes over."""
