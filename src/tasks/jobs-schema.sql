-- The schema of graphile-worker's tables, which its runner fills. Made here, so that a start says which right a role
-- lacks; jobs-schema.ts has the same name.
do $$
declare
  name constant text := current_schema() || '_tasks';
begin
  if to_regnamespace(quote_ident(name)) is null then
    execute format('create schema %I', name);
  end if;
end $$;
