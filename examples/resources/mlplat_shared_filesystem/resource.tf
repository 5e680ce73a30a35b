resource "mlplat_shared_filesystem" "shared" {
  name = "ml-shared"

  # One mount target for each zone, whichever and however many subnets are in it.
  subnet_ids                = ["subnet-0a1b2c3d4e5f60001", "subnet-0a1b2c3d4e5f60002"]
  client_security_group_ids = ["sg-0a1b2c3d4e5f60001"]

  transition_to_ia_after_days = 30
  backup                      = true

  cluster = "ml-prod"
  volumes = [
    { namespace = "ml", name = "notebooks", path = "/notebooks", size_gib = 100 },
    { namespace = "ml", name = "models", path = "/models", size_gib = 50, read_only = true },
  ]

  tags = {
    data-class = "internal"
  }
}
