"""Webhooks: addresses of a workspace that are told what changes, signed, until they have heard."""
