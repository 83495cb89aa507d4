"""The door for agents that speak the Model Context Protocol: tools, a profile as a resource, and a
prompt, over streamable HTTP. An API key says who asks; which user is meant may be pinned by the
address, a header or the key."""
