"""Dynamic programming: max-sum over chains, trees and elimination orders, and plain enumeration."""
