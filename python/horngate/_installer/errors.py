"""What may go wrong, in words for the user."""


class InstallError(Exception):
    """Ends the command; its text is all that is printed."""
