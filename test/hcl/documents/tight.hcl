a=1
b{
c="x"
}
d=[1,2,3]
e={x=1,y=2}
f=b?c:d
