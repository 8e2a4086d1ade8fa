"""What error to expect, from public facts only."""
