-- The url with the values of its query masked, as maskedUrl() of delivery/target.ts prints it: for texts that the state
-- makes itself, as an event.
create or replace function masked_url(url text) returns text language sql immutable as $$
  select case when strpos(url, '?') = 0 then url else split_part(url, '?', 1) || '?' || substr(
    regexp_replace('&' || substr(url, strpos(url, '?') + 1), '&(?:([^=&]*)=)?[^&]*', '&\1=***', 'g'), 2) end
$$;
