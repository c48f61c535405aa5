a = [for x in y : x]
b = [for i, x in y : "${i}-${x}" if x != null]
c = [
  for x in y :
  x.name
  if x.ok
]
d = [for x in [for z in w : z] : x]
