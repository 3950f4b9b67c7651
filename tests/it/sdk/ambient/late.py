def half():
    # The import is inside a function, and the build has to find it there.
    from fractions import Fraction

    return Fraction(1, 2)
