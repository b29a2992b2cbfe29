"""What others read in the documents of a kind: committed resources, and files of users that may have errors."""
