"""HTTP servers with limits on connections and times."""
