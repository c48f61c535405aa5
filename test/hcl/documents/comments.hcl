a = 1 # after
// before
b = /* inside */ 2
c { # of a block
  d = 1 // more
  /* alone */
} # end
e = [ # of a list
  1, /* x */ 2
]
f = "# no comment // either /* nor this */"
