b = "p${var.a ? "${var.b}" : ""}s"
