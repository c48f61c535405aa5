// The SQL of object storage that is run at each start.

/**
 * The files of functions, replaced as a whole; later ones use earlier ones. The last one settles what a restored
 * dump brings.
 */
export const STORAGE_FUNCTIONS = [
  'common',
  'lookup',
  'bucket',
  'put',
  'delete',
  'transition',
  'list',
  'annotation',
  'upload',
  'standing',
  'restored',
].map((name) => new URL(`./${name}.sql`, import.meta.url))
