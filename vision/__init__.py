"""Pictures to sightings, in board millimetres."""
