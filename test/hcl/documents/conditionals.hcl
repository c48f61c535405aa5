a = b ? c : d
e = b ? c : d ? f : g
h = (b
  ? c
  : d)
i = x == null ? "none" : x
