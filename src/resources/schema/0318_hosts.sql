-- Host names that the account gave it beside its own address. Its kind routes them by route_<kind>().
alter table resources add column hosts text[] not null default '{}';
