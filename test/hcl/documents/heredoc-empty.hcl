a = <<E
E
b = <<E

E
