"""Intervals of shares that stay between 0 and 1 and are not too sure after few units."""

from __future__ import annotations

from gin_sim.checks import whole_number
from gin_sim.errors import GinSimError
from gin_sim.sprt import LEAST, wilson
from gin_sim.stats import CONFIDENCE, RatioSums, t_quantile


def share_interval(
    sums: RatioSums, scale: int, confidence: float = CONFIDENCE
) -> tuple[float, float] | None:
    """Return Wilson's interval of a share that was observed in units such as mirrored deals.

    Wilson's interval is of independent trials.  What is shared within a unit makes the
    share better or worse known than its number of hands says, so the trials that count are
    the ``p (1 - p) / SE**2`` which would have the standard error SE over units, with
    Student's t in place of the normal quantile since SE is an estimate.

    Each unit is at least one trial: the number is never less than that of equal units,
    ``h**2 / hh``.  It is just that number, with the normal quantile, where there is no
    spread to go by: where p is 0 or 1, and where fewer than ten units were all alike.  Ten
    or more that were all alike, each won and lost in the same share, leave no doubt: two
    hands of a deal that always go one each are not a matter of chance.

    Parameters
    ----------
    sums : RatioSums
        x in units of 1/scale, of h hands or games.
    scale : int
        What x counts for a share of 1 in a hand: 2 where a win is 2 and a draw 1.
    confidence : float

    Returns
    -------
    (low, high) or None
        None without hands.

    Raises
    ------
    GinSimError
        For an x that is no share of its hands.

    Examples
    --------
    >>> six = RatioSums()
    >>> six.add([4] * 6, [2] * 6)
    >>> [round(end, 3) for end in share_interval(six, 2)]
    [0.61, 1.0]
    """
    from scipy.special import ndtr  # noqa: PLC0415 - scipy is not needed to get help

    scale = whole_number(scale, "scale", 1, 1 << 20)
    if sums.h == 0:
        return None
    if not 0 <= sums.x <= scale * sums.h:
        raise GinSimError(f"x = {sums.x}: allowed is 0..{scale} for each of {sums.h} hands")
    trials = sums.h**2 / sums.hh
    # Whole numbers, so that units that are all alike leave exactly nothing.
    against = scale * sums.h - sums.x
    spread = sums.xx * sums.h**2 - 2 * sums.x * sums.h * sums.xh + sums.x**2 * sums.hh
    if spread and sums.x and against:
        # p (1 - p) / SE**2, where SE**2 is n / (n - 1) spread / h**4 / scale**2.
        trials = max(trials, sums.x * against * sums.h**2 * (sums.n - 1) / (sums.n * spread))
        # In place of the normal quantile of this confidence comes the t quantile.
        t = t_quantile(0.5 + confidence / 2, sums.n - 1)
        confidence = 2 * float(ndtr(t)) - 1
    share = sums.x / (scale * sums.h)
    if not spread and sums.x and against and sums.n >= LEAST:
        return share, share
    return wilson(share, trials, confidence)
