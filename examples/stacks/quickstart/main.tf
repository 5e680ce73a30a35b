# A place for models and nodes to serve them: a bucket, and a GPU pool in a cluster that exists.

terraform {
  required_version = ">= 1.8"

  required_providers {
    mlplat = {
      source = "mlplat/mlplat"
    }
  }
}

provider "mlplat" {
  region = "us-east-1"

  cost_allocation = {
    cost_center = "ml-platform"
    team        = "search"
  }
}

variable "cluster" {
  description = "Name of the EKS cluster."
  type        = string
  default     = "ml-prod"
}

variable "bucket" {
  description = "Name of the bucket, unique in the world."
  type        = string
  default     = "acme-ml-models-quickstart"
}

data "mlplat_cluster" "main" {
  name = var.cluster
}

resource "mlplat_model_bucket" "models" {
  name = var.bucket

  retention          = [{ prefix = "checkpoints/", expire_after_days = 30 }]
  protected_prefixes = ["models/"]
}

resource "mlplat_gpu_pool" "inference" {
  cluster    = data.mlplat_cluster.main.name
  name       = "gpu-inference"
  purpose    = "inference"
  subnet_ids = data.mlplat_cluster.main.subnet_ids

  # What holds a model of 7.6 billion parameters: a GPU with 24 GB.
  accelerator = { product = "A10G", count = 1 }

  size                = { min = 1, max = 4 }
  max_hourly_cost_usd = 10
}

output "models" {
  description = "Where model servers find models."
  value       = mlplat_model_bucket.models.s3_uri
}

output "gpus" {
  description = "What the pool can grow to, and what that costs an hour at list price."
  value = {
    product    = mlplat_gpu_pool.inference.gpu.product
    at_most    = mlplat_gpu_pool.inference.gpu.total_max
    hourly_usd = mlplat_gpu_pool.inference.cost.hourly_max_usd
  }
}

output "placement" {
  description = "What a workload needs to be scheduled on the pool."
  value = {
    node_selector = mlplat_gpu_pool.inference.node_selector
    tolerations   = mlplat_gpu_pool.inference.tolerations
  }
}
