a = <<E
%{ for s in servers ~}
server ${s.host}:${s.port}
%{ endfor ~}
end
E
