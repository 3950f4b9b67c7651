def half():
    # The module is imported only here, so the build has to find this import.
    from fractions import Fraction

    return Fraction(1, 2)
