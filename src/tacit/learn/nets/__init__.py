"""Networks whose outputs are log-lifts: one trainer for all of them."""
