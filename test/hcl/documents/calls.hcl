a = f()
b = f(1, "two", [3])
c = f(
  1,
  2,
)
d = f(g(h(x)))
e = max(list...)
f = f (1)
