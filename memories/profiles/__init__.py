"""Knowledge of a person: profile, features, summaries."""
