a = b.c.d
e = b[0].c["d"]
f = b.0.c
g = b.*.c
h = b[*].c[0]
i = b.*.c[0]
j = b[*].c[*].d
k = b [ "x" ] . c
l = f(1).c
m = {x = 1}.x
n = [1][0]
o = (b).c
p = "a".b
q = b[c.d[0]]
