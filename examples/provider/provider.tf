terraform {
  required_providers {
    mlplat = {
      source = "mlplat/mlplat"
    }
  }
}

provider "mlplat" {
  region = "us-east-1"

  # Stamped on every object as tags, and on nodes as labels.
  cost_allocation = {
    cost_center = "ml-platform"
    team        = "search"
  }

  default_tags = {
    env = "prod"
  }
}
