"""A simulated table: its physical truth, the camera over it and the players at it."""
