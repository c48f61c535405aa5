empty {}
one { a = 1 }
labels "x" y "z z" {
  a = 1
}
nested {
  inner {
    deep "l" {
      a = 1
    }
  }
  inner {
    b = 2
  }
}
repeated "a" {
  x = 1
}
repeated "a" {
  x = 2
}
repeated "b" {
}
