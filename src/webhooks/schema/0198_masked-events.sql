-- Events of disabled endpoints had the whole url, and every reader of events saw a key in its query. The expression is
-- that of sql/masked-url.sql, which is made after this file.
update events set data = jsonb_set(data, '{url}', to_jsonb(split_part(data ->> 'url', '?', 1) || '?' || substr(
  regexp_replace('&' || substr(data ->> 'url', strpos(data ->> 'url', '?') + 1),
    '&(?:([^=&]*)=)?[^&]*', '&\1=***', 'g'), 2)))
where type = 'webhook.disabled' and strpos(data ->> 'url', '?') > 0;
