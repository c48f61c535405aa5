-- The images that versions have on the node: a word for each, by its repository and digest, and the bytes that its files take
-- of the disk. Null where the version has none there, or where its bytes are not measured yet.
alter table workload_versions add column image_word text collate "C", add column image_bytes bigint;
