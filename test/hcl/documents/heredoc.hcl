a = <<EOT
  hello ${name}
    world "quoted" \n
EOT
b = 1
