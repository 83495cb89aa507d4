"""Features: what is known of somebody, read out of episodes by rules or a model, written by hand,
merged, taken back; and the profile that is made of them and of memories."""
