//! Nothing of its own: the simulation is the test `sim`.
