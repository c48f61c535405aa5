-- Every model of ours chooses tools by itself now; what differs is whether it was trained to.
update models set offer = jsonb_set(offer, '{tools}', '"weak"') where offer ->> 'tools' = 'forced';
update models set offer = jsonb_set(offer, '{tools}', '"trained"') where offer ->> 'tools' = 'auto';
