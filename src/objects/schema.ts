// The tables and functions of object storage.
import type { Schema } from '#state/schema.ts'

export const OBJECTS_SCHEMA: Schema = {
  area: 'objects',
  tables: new URL('./schema/', import.meta.url),
  functions: [
    'common',
    'folders',
    'followers',
    'lookup',
    'bucket',
    'put',
    'delete',
    'transition',
    'list',
    'annotation',
    'upload',
    'standing',
    'scrub',
    // Not a function: mends the order of events after a dump was restored into another cluster.
    'restored',
  ].map((name) => new URL(`./sql/${name}.sql`, import.meta.url)),
}
