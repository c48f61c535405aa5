a = "${<<E
x
E
}"
