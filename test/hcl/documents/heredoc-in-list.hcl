a = [<<E
x
E
, 2]
b = f(<<E
y
E
)
