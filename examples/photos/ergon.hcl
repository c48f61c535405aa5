# A bucket, and a function that says where to put photographs.
variable "greeting" {
  default     = "Photographs go to"
  description = "The words before the name of the bucket"
}

bucket "example-photos" {
  versioning = true
}

function "example-photos" {
  file          = "where.ts"
  route         = "/example-photos"
  memory        = "96MB"
  energy_budget = "20 kJ/day"
  env           = { GREETING = var.greeting, BUCKET = bucket.example-photos.name }
}

output "address" {
  value = function.example-photos.url
}
