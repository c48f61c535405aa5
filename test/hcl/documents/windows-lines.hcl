a = 1
b {
  c = "x"
}
d = <<E
text
E
