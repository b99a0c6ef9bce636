"""The agent: its loop, the driver that carries plans out, guards, tools and permissions."""
