a = {}
b = { x = 1, y = "2" }
c = {
  x = 1
  "y z" = 2
  z : 3,
  (var.key) = 4
  "k${var.n}" = 5
  true = 6
  7 = 8
}
d = { inner = { deep = { x = [] } } }
e = { a = 1, }
