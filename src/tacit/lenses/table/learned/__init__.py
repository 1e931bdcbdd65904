"""What is learned about a table at full resolution: estimates, which certify nothing pointwise."""
