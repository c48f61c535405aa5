-- Resources that follow buckets of their account: each gets a row for each new object, and takes it away.
create table bucket_followers (
  account text collate "C" not null,
  bucket text collate "C" not null,
  follower text collate "C" not null,
  primary key (account, bucket, follower)
);
create index bucket_followers_by_follower on bucket_followers (follower);

create table followed_objects (
  id bigint primary key generated always as identity,
  follower text collate "C" not null,
  bucket text not null,
  key text not null,
  version_id text not null,
  at timestamptz not null
);

-- True while somebody follows it: writes of other buckets look for nobody.
alter table buckets add column followed boolean not null default false;
alter type storage_home add attribute followed boolean;
