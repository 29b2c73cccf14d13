"""Exceptions with attributes, so that callers need not parse messages."""


class ArgumentError(ValueError):
    """An argument was refused.

    The message is the name of the argument and the complaint. A caller that knows the argument by another name, such
    as an option of the command line, words the message anew from the attributes.

    Parameters
    ----------
    argument : str
        Name of the argument.
    complaint : str
        The rest of the sentence, such as "must be a column of rows.csv, got 'lable'."

    Examples
    --------
    >>> error = ArgumentError("target", "must be a position, got 'label'.")
    >>> str(error), error.argument
    ("target must be a position, got 'label'.", 'target')
    """

    def __init__(self, argument: str, complaint: str):
        super().__init__(argument, complaint)  # both, so that it pickles
        self.argument, self.complaint = argument, complaint

    def __str__(self) -> str:
        return f"{self.argument} {self.complaint}"
