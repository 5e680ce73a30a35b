# Instance types with at least 24 GiB on each GPU, for at most two dollars an hour.
data "mlplat_accelerators" "small" {
  vendor         = "nvidia"
  memory_gib_min = 24
  hourly_usd_max = 2
}

output "small_gpu_instance_types" {
  value = data.mlplat_accelerators.small.names
}
