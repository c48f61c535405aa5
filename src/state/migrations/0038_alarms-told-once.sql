-- Damage is told once, also when two reads meet it at once. Of alarms that were told twice the newest stays: an
-- acknowledgement covers an alarm and those before it, so no open alarm goes without another.
delete from alarms a using alarms newer
where a.kind = 'blob_damaged' and newer.kind = a.kind and newer.id > a.id
  and newer.detail ->> 'location' = a.detail ->> 'location' and newer.detail ->> 'id' = a.detail ->> 'id';
delete from alarms a using alarms newer
where a.kind in ('blobs_unnamed', 'body_damaged', 'page_damaged') and newer.kind = a.kind and newer.id > a.id
  and newer.detail = a.detail;

create unique index alarms_blob_damaged on alarms ((detail ->> 'location'), (detail ->> 'id'))
  where kind = 'blob_damaged';
-- By a hash: a detail may be longer than an entry of an index.
create unique index alarms_told_once on alarms (kind, md5(detail::text))
  where kind in ('blobs_unnamed', 'body_damaged', 'page_damaged');
