"""What is learned of a table at full resolution: estimates, which certify nothing pointwise."""
