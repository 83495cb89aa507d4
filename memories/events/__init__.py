"""Events, read and live, and webhooks."""
