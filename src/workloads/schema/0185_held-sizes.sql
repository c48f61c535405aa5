-- The size of a volume is noted before its file is made or grown; see hold_volume_sizes().
drop function if exists note_volume_sizes(text, int);
