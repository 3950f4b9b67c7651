//! Tests of gates and other decisions of people, and of the policy rules for gates.

mod gates;
mod modes;
mod offers;
mod pending;
mod policy;
mod signed;
