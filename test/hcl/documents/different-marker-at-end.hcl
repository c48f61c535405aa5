a = <<E
x
E