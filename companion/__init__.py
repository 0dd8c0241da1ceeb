"""The application: what was seen is judged, stored and shown."""
