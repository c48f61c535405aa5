a = "tab\t line\n return\r quote\" back\\ \u00e9 \U0001F600"
b = "dollar $ $$ percent % %% end"
c = "\\${a}"
