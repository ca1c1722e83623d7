"""Verification: every plan of a policy on a real backend, bit by bit against the reference."""

from bittrue.conformance.records import Mismatch, PlanReport, Verification, plan_json
from bittrue.conformance.runner import verify

__all__ = ["Mismatch", "PlanReport", "Verification", "plan_json", "verify"]
