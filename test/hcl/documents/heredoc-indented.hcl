a {
  b = <<-EOT
    first
      second

    third ${x}
    EOT
  c = <<-EOT
    ${x}
      y
  EOT
}
