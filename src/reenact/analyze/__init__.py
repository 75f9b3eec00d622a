"""What recordings say when they are read side by side: pure, and without a face."""
