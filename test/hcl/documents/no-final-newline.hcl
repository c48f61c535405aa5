workload "a" {
  image = "x"
}