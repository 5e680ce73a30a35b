# From models to answers in one apply: a bucket, a GPU pool in a cluster that exists, a team's place in the cluster, a
# queue that shares the pool's GPUs out, and the team's model server, which has its own through the queue. Nothing has
# to be there before but the cluster with Kueue in it.

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

variable "namespace" {
  description = "Kubernetes namespace of the team."
  type        = string
  default     = "ml"
}

variable "bucket" {
  description = "Name of the bucket, unique in the world."
  type        = string
  default     = "acme-ml-models-platform"
}

# How many GPUs there may be: what the pool grows to, what the team may have, and what the queue shares out.
locals {
  gpus = 4
}

data "mlplat_cluster" "main" {
  name = var.cluster
}

resource "mlplat_model_bucket" "models" {
  name               = var.bucket
  protected_prefixes = ["models/"]
}

resource "mlplat_gpu_pool" "inference" {
  cluster    = data.mlplat_cluster.main.name
  name       = "gpu-inference"
  purpose    = "inference"
  subnet_ids = data.mlplat_cluster.main.subnet_ids

  # What holds a model of 7.6 billion parameters: a GPU with 24 GB.
  accelerator = { product = "A10G", count = 1 }

  size                = { min = 1, max = local.gpus }
  max_hourly_cost_usd = 10
}

resource "mlplat_tenant" "search" {
  cluster = data.mlplat_cluster.main.name
  name    = var.namespace

  quota = { gpus = local.gpus }

  # The role is there before any pod that needs it.
  data_access = [
    {
      bucket_arn      = mlplat_model_bucket.models.arn
      prefix          = "models/"
      service_account = "vllm-qwen"
    },
  ]
}

resource "mlplat_queue" "gpu" {
  cluster = data.mlplat_cluster.main.name
  name    = "gpu"

  flavors = [
    {
      name        = "gpu-inference"
      node_labels = mlplat_gpu_pool.inference.node_selector
      tolerations = mlplat_gpu_pool.inference.tolerations
      quota = {
        "nvidia.com/gpu" = { nominal = local.gpus }
        cpu              = { nominal = 4 * local.gpus }
        memory           = { nominal = "${16 * local.gpus}Gi" }
      }
    },
  ]

  namespaces = { (mlplat_tenant.search.name) = "gpu" }

  # The model server is waited for, a training job is not: it makes place. What has no priority has 0.
  priorities = {
    interactive = 1000
    training    = 100
  }
}

resource "mlplat_inference_service" "qwen" {
  cluster   = data.mlplat_cluster.main.name
  namespace = mlplat_tenant.search.name
  name      = "vllm-qwen"
  queue     = mlplat_queue.gpu.namespaces[mlplat_tenant.search.name]
  labels    = { "kueue.x-k8s.io/priority-class" = "interactive" }

  engine = {
    kind  = "vllm"
    image = "vllm/vllm-openai:v0.32.0"
  }

  model = {
    source             = "hf://Qwen/Qwen2.5-7B-Instruct"
    parameters_billion = 7.6
    dtype              = "bfloat16"
    max_context        = 8192
  }

  gpus = {
    per_replica = 1
    product     = mlplat_gpu_pool.inference.gpu.product
  }

  # Where the pool's nodes are, and how many GPUs they can have: so a new pod may start before an old one goes.
  placement = {
    node_selector = mlplat_gpu_pool.inference.node_selector
    tolerations   = mlplat_gpu_pool.inference.tolerations
    gpu_capacity  = mlplat_gpu_pool.inference.gpu.total_max
  }

  scaling = {
    min    = 1
    max    = 3
    signal = "queue_depth"
    target = 4
  }
}

output "models" {
  description = "Where model servers find models."
  value       = mlplat_model_bucket.models.s3_uri
}

output "service" {
  description = "Where the model answers, within the cluster."
  value       = mlplat_inference_service.qwen.service_url
}
