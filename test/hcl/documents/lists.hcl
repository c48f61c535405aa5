a = []
b = [1, "two", true, null]
c = [
  1,
  2, # two
  3,
]
d = [[1], [[2]], []]
e = [var.a, "${var.b}", -1]
