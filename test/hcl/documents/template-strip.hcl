a = "x  ${~ b ~}  y"
b = "  ${~ c }  "
c = "%{ if d ~}  yes  %{~ else ~}  no  %{~ endif }"
