"""The adversary bench of images and posts: families of adversaries that are trained on a release and tried on it."""
