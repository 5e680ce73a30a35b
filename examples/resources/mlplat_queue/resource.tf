resource "mlplat_queue" "gpu" {
  cluster = "ml-prod"
  name    = "gpu-cluster-queue"

  # In the order of use: what does not fit on demand runs on Spot.
  flavors = [
    {
      name        = "on-demand-gpu"
      node_labels = { "node-type" = "gpu-inference" }
      tolerations = [{ key = "nvidia.com/gpu", operator = "Exists" }]
      quota = {
        "nvidia.com/gpu"    = { nominal = 32 }
        cpu                 = { nominal = 512 }
        memory              = { nominal = "2Ti" }
        "ephemeral-storage" = { nominal = "10Ti" }
      }
    },
    {
      name        = "spot-gpu"
      node_labels = { "node-type" = "gpu-spot" }
      taints      = [{ key = "spot", effect = "NoSchedule" }]
      tolerations = [
        { key = "nvidia.com/gpu", operator = "Exists" },
        { key = "spot", operator = "Exists" },
      ]
      quota = {
        "nvidia.com/gpu"    = { nominal = 64 }
        cpu                 = { nominal = 1024 }
        memory              = { nominal = "4Ti" }
        "ephemeral-storage" = { nominal = "20Ti" }
      }
    },
  ]

  # Who may use the queue, and the name of each one's LocalQueue.
  namespaces = {
    "team-alpha" = "gpu"
    "team-beta"  = "gpu"
  }

  # Interactive work evicts training where both do not fit.
  priorities = {
    interactive = 1000
    training    = 100
  }
}
