# By the cluster's name and the namespace. `-` stands for the cluster of the provider's `kubernetes` block.
terraform import mlplat_tenant.alpha ml-prod/team-alpha
