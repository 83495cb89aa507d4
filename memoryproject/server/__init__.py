"""The processes of `up`: the front, web, MCP and streams, and their health."""
