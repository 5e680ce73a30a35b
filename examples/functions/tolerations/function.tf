output "tolerations" {
  value = provider::mlplat::tolerations([
    { key = "nvidia.com/gpu", value = "present", effect = "NO_SCHEDULE" },
  ])
}
