-- The accounts that a network has made in a day of UTC, where strangers of other machines may sign up.
create table sign_ups (
  network text collate "C" not null,
  day date not null,
  accounts integer not null,
  primary key (network, day)
);
