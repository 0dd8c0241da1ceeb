"""The rules core: one module per game, standard library only."""
