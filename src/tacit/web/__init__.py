"""The page: the verbs in a browser on this machine. Clicks become one request, a worker answers it, and it is shown."""
