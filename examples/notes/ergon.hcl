# A database, and a function that has its connection string as a secret.
database "example-notes" {
  size          = "1GB"
  energy_budget = "100 kJ/day"
}

function "example-notes" {
  file  = "notes.ts"
  route = "/example-notes"

  secret "DATABASE_URL" {
    value = database.example-notes.url
  }
}

webhook "example-notes" {
  url         = "https://example.com/ergon"
  events      = ["energy_budget.warning", "energy_budget.exceeded"]
  description = "Warns before a budget is used up"
}

output "host" {
  value = database.example-notes.host
}
