"""The page: the verbs in a browser on this machine. Clicks become one request, and a worker's answer is shown."""
