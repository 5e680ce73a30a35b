# By the name, which is the creation token of the file system.
terraform import mlplat_shared_filesystem.shared ml-shared

# Or by the id of the file system.
terraform import mlplat_shared_filesystem.shared fs-0a1b2c3d4e5f60718
