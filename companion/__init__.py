"""The application: what was seen is judged, stored and shown."""

import os

# Our matrices are small: threads cost them more than they bring. Must be said before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
