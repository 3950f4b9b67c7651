def half():
    # Not loaded by anything else: the build has to see it.
    from fractions import Fraction

    return Fraction(1, 2)
