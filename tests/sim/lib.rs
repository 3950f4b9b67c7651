//! Empty library. The simulation is the test `sim`.
