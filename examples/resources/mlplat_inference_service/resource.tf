variable "hf_token" {
  type      = string
  ephemeral = true
}

resource "mlplat_inference_service" "qwen" {
  cluster   = "ml-prod"
  namespace = "ml"
  name      = "vllm-qwen"

  engine = {
    kind  = "vllm"
    image = "vllm/vllm-openai:v0.32.0"
  }

  # The size tells whether the model fits and how long a start may take.
  model = {
    source             = "hf://Qwen/Qwen2.5-7B-Instruct"
    revision           = "main"
    parameters_billion = 7.6
    dtype              = "bfloat16"
    max_context        = 8192

    # Goes to a Secret, never to state or plan. Count the version up with each new token.
    token_wo         = var.hf_token
    token_wo_version = 1
  }

  gpus = {
    per_replica = 1
    product     = "NVIDIA-A10G"
  }

  # Both are outputs of a mlplat_gpu_pool.
  placement = {
    node_selector = { "mlplat.io/pool" = "gpu-inference" }
    tolerations   = [{ key = "nvidia.com/gpu", operator = "Exists", effect = "NoSchedule" }]
  }

  # The autoscaler owns the number of replicas within this range.
  scaling = {
    min    = 1
    max    = 8
    signal = "queue_depth"
    target = 4
  }

  expose = {
    host  = "qwen.example.com"
    class = "alb"
  }
}
