data "mlplat_cluster" "main" {
  name = "ml-prod"
}

output "kubernetes_version" {
  value = data.mlplat_cluster.main.version
}
