variable "region" {
  type    = string
  default = "eu-west"
}

variable "replicas" {
  default     = 3
  description = "Instances at most"
}

locals {
  name   = "shop"
  labels = { team = "checkout", tier = upper("gold") }
  ports  = [for p in [80, 443] : p + 8000]
}

bucket "photos" {
  region = var.region
}

database "orders" {
  region        = var.region
  size          = "1GB"
  energy_budget = "100 kJ/day"
}

workload "api" {
  image   = "registry.example.com/${local.name}/api@sha256:0123456789abcdef"
  region  = "auto"
  port    = local.ports[0]
  command = ["node", "server.js", "--port", "${local.ports[0]}"]

  env = merge(local.labels, {
    DATABASE_URL = database.orders.url
    GREETING     = <<-EOT
      Hello from ${local.name}
    EOT
  })

  scale {
    min = 0
    max = var.replicas > 1 ? var.replicas : 1
  }

  health {
    path     = "/healthz"
    interval = "10s"
  }
}

route "shop.example.com" {
  to = workload.api
}

output "url" {
  value = "https://shop.example.com"
}
