-- Minutes of functions have an operation of their own; budgets that were set before limit it too.
update budgets set operations = '{cell.standing,function.standing}' where id like 'fn\_%';
