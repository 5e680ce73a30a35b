resource "mlplat_gpu_pool" "inference" {
  cluster        = "ml-prod"
  name           = "gpu-inference"
  purpose        = "inference"
  instance_types = ["g5.xlarge"]
  subnet_ids     = ["subnet-0a1b2c3d4e5f60718", "subnet-0b1c2d3e4f5061728"]

  # The autoscaler owns the number of nodes within this range.
  size = {
    min     = 1
    max     = 20
    initial = 2
  }

  disk = {
    size_gib         = 200
    iops             = 3000
    throughput_mibps = 250
  }

  labels = {
    "node-type" = "gpu-inference"
  }

  # The plan fails where 20 nodes can cost more.
  max_hourly_cost_usd = 60
}
