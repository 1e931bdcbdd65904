"""The jobs people do: audit, protect, verify, attack. Each returns one frozen result and prints nothing."""
