-- A server added by address was told to customers by the name of its host; nobody had declared that. What
-- was charged meanwhile keeps its bytes.
update models set offer = offer || '{"routedTo": "unknown/unknown/unknown", "ownedBy": "operator"}'
where provider ? 'base_url' and offer ->> 'routedTo' like '%/remote/upstream';
