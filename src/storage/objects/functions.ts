/**
 * The SQL functions of object storage, replaced as a whole at every start; later files use earlier ones, the last
 * one settles what a restored dump brings.
 */
export const STORAGE_FUNCTIONS = [
  'common',
  'lookup',
  'bucket',
  'put',
  'delete',
  'list',
  'annotation',
  'upload',
  'standing',
  'restored',
].map((name) => new URL(`./${name}.sql`, import.meta.url))
