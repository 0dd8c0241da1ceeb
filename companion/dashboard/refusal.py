"""A request that is not taken."""


class Refusal(Exception):
    """Answered with an HTTP status and one plain sentence."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why
