# A container at a host name of its own, and a webhook that tells when it crashes or is suspended.
variable "image" {
  description = "An image that answers HTTP requests on the port of its variable PORT, such as registry.example.com/site:1.4.2"
}

workload "example-site" {
  image               = var.image
  port                = 8080
  memory              = "128MB"
  energy_budget       = "250 kJ/day"
  scale_to_zero_after = "10m"
  env                 = { VERSION = "example" }
}

route "example-site.localhost" {
  to = workload.example-site
}

webhook "example-site" {
  url    = "https://example.com/events"
  events = ["workload.crashed", "workload.suspended"]
}

output "address" {
  value = route["example-site.localhost"].url
}
