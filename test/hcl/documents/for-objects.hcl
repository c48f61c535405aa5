a = {for k, v in y : k => v}
b = {for x in y : x.type => x... if x.ok}
c = {
  for k, v in y :
  upper(k) => { value = v }
}
