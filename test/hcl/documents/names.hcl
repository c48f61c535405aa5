_under   = 1
dash-ed  = 2
ümlaut   = 3
true     = 4
for      = 5
in       = 6
x1       = 7
