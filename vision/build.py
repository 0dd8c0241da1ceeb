"""What the installed OpenCV can do."""

import cv2


def opencv_version() -> str:
    """As in "5.0.0"."""
    return cv2.getVersionString()


def video_backends() -> tuple[str, ...]:
    """The names of what it reads cameras, videos and URLs with, as in "V4L2", "FFMPEG"."""
    registry = cv2.videoio_registry
    found = {*registry.getCameraBackends(), *registry.getStreamBackends()}
    return tuple(sorted(registry.getBackendName(backend) for backend in found if registry.isBackendBuiltIn(backend)))
