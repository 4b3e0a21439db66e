"""The MCP server: the editor's tools over stdio. The only package that knows the MCP SDK."""
