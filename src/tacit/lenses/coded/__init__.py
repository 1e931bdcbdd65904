"""What images, posts and vectors share: records become codes, and what is claimed is counted on codes."""
