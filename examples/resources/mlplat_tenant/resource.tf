resource "mlplat_tenant" "alpha" {
  cluster = "ml-prod"
  name    = "team-alpha"
  team    = "alpha"

  quota = {
    gpus                     = 8
    cpu                      = "64"
    memory                   = "256Gi"
    persistent_volume_claims = 10
  }

  # What containers get that say nothing, and the most that each may have.
  container = {
    default = {
      cpu    = "1"
      memory = "2Gi"
    }
    max = {
      cpu    = "48"
      memory = "192Gi"
    }
  }

  pod_security = "restricted"

  # The plan fails where nothing in the cluster enforces NetworkPolicies.
  network = {
    isolation               = "strict"
    ingress_from_namespaces = ["ingress-nginx"]
    allow_gang_traffic      = true
  }

  trusted_registries = ["ghcr.io/acme/", "docker.io/vllm/"]

  # Credentials come before the namespace, and so before any pod.
  data_access = [
    {
      bucket_arn      = "arn:aws:s3:::acme-ml-models-prod"
      prefix          = "models/"
      mode            = "read"
      service_account = "default"
    },
  ]

  external_secrets = [
    {
      name     = "hf"
      store    = "aws"
      key      = "prod/hf"
      property = "token"
    },
  ]

  members = [
    {
      group = "team-alpha"
      role  = "edit"
    },
  ]
}
