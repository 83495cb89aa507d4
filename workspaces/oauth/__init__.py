"""OAuth 2.1 for apps that take no API key: they register, a person consents, and their access token is a key."""
