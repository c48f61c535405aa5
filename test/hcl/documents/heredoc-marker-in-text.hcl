a = <<E
E x
 xE
 E2
E
