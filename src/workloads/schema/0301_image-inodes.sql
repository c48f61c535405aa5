-- An image has the part of the disk that its inodes take, where that is more than its blocks, and once more for the copy of an
-- engine. Images are measured again.
update workload_versions set image_bytes = null where image_word is not null;
