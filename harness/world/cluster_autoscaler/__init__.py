"""The cluster autoscaler of a world: it looks at the cluster every few seconds, and lets agent pools grow and shrink."""
