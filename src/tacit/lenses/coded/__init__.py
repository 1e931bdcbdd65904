"""What images, posts and vectors share: records become codes, and every claim is counted on codes."""
