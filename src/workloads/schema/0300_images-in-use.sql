-- These functions ask which versions have instances, too.
drop function if exists account_images(text);
drop function if exists image_room(text, int, bigint);
drop function if exists keep_image(text, int, text, jsonb, text, bigint, bigint);
