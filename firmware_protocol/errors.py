"""What goes wrong on the link, as far as people have to do something about it."""


class LinkError(Exception):
    """The grid cannot be used; the message names the port, says what is the matter and what to do."""


class NoAnswer(LinkError):
    """Nothing on the port answers in the driver's protocol; another driver may have it."""


class WireError(ValueError):
    """A value that no frame can carry, or bytes that are no message of the table."""
