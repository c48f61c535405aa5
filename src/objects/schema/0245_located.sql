-- It leaves out the checksums of large objects.
drop function if exists storage_located(jsonb);
