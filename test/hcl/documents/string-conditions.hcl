a = "${var.a == "x" ? "y" : "z"}"
