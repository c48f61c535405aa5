-- The budget of a resource is the row of `budgets` that has its id.
alter table resources drop column budget_wallet;
