-- hold_volume_sizes() has a third argument.
drop function if exists hold_volume_sizes(text, int);
