"""The durable memories of the imitated systems, a file each, composed of shared pieces."""
