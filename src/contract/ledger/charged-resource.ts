// The user of the energy of a charge: kind and id. A name would also be that of the next thing of this name.

/** The kinds that ids abbreviate. */
const KINDS: Readonly<Record<string, string>> = {
  acct: 'account',
  db: 'database',
  dep: 'deployment',
  fn: 'function',
  wl: 'workload',
}

/** The resource of an id as charges name it: `database:db_x` of `db_x`. */
export function chargedResource(id: string): string {
  const [prefix = ''] = id.split('_', 1)
  return `${KINDS[prefix] ?? prefix}:${id}`
}

/** The kind of the resource of an id: `database` of `db_x`. */
export const kindOfResource = (id: string): string => chargedResource(id).split(':', 1)[0] ?? ''

/** The id in the name of a charged resource. */
export const chargedId = (resource: string): string => resource.slice(resource.indexOf(':') + 1)
