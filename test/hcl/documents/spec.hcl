workload "api" {
  image         = "registry.example.com/api:1.4.2"
  region        = "auto"
  energy_budget = "250 kJ/day"
}

route "api.example.com" {
  to = workload.api
}
