a = "%{ if b }yes%{ else }no%{ endif }"
b = "%{ for x in c }${x}, %{ endfor }"
d = "%{ for k, v in e }${k}=${v}%{ if v }!%{ endif }%{ endfor }"
f = "%{ if a }%{ if b }both%{ endif }%{ endif }"
