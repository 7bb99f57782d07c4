"""Steps that are too long for every change: one of several parts of them."""


def part(text):
    """The K-th of N parts: "K/N"."""
    k, n = (int(number) for number in text.split("/"))
    if not 1 <= k <= n:
        raise ValueError
    return k, n
