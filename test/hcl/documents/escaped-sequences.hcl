a = "$${not} %%{not} $$${is}"
b = <<E
$${not} %%{not}
\n stays
E
