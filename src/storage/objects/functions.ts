/** The SQL functions of object storage, replaced as a whole at every start; later files use earlier ones. */
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
].map((name) => new URL(`./${name}.sql`, import.meta.url))
