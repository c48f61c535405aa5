// SQL names tables and functions of its own area and of areas below, as imports do (DIRECTIONS of tidy.ts).
import type { Fault } from './tidy-contract.ts'

/** Further areas whose tables and functions an area names: the ledger's accounts are the owners of everything. */
const BELOW: Readonly<Record<string, readonly string[]>> = {
  identity: ['ledger'],
  http: ['ledger'],
  ingress: ['ledger'],
}

/** Names of areas above, and of other products. A new row needs a reason; a row that nothing needs is a fault. */
const EXCEPTIONS: ReadonlySet<string> = new Set([
  // A deletion removes all records of an account in one transaction.
  'identity idempotency_keys',
  // A file that is applied once, before these areas were apart.
  'deployments workloads',
  // The status page measures products by their rows.
  'status database_backups',
  'status models',
  'status webhook_endpoints',
  'status webhook_backlog',
])

const MADE =
  /\bcreate (?:or replace )?(?:unlogged )?(?:table|function|procedure|view) (?:if not exists )?(\w+)/gi
const NAMED =
  /\b(?:from|join|into|update|table|truncate|using|on|references)\s+(?:only\s+)?"?(?<table>\w+)|\b(?<routine>\w+)\s*\(/gi
const COMMENTS = { sql: /--.*$/gm, ts: /^\s*(?:\/\/|\/?\*).*$/gm }
const TEXTS = /`(?:\\.|[^`\\])*`|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g

/** SQL that names a table or a function of an area that is not below its own; of the whole tree. */
export function sqlFaults(
  paths: readonly string[],
  read: (path: string) => string,
  directions: Readonly<Record<string, readonly string[]>>,
): Fault[] {
  const files = paths.flatMap((path) => {
    const [, area, kind] = /^src\/([\w-]+)\/.*\.(sql|ts)$/.exec(path) ?? []
    // An area that cannot ask the state has only prose.
    const isAsking = area === 'state' || directions[area ?? '']?.includes('state')
    if (area === undefined || isAsking !== true || /\.(test|fixture)\.ts$/.test(path)) return []
    const text = read(path).replace(kind === 'sql' ? COMMENTS.sql : COMMENTS.ts, '')
    const sql = kind === 'sql' ? text : (text.match(TEXTS) ?? []).join('\n')
    return [{ path, area, sql, isMade: kind === 'sql' }]
  })
  const owners = new Map<string, string>()
  for (const { area, sql, isMade } of files)
    if (isMade) for (const [, name = ''] of sql.matchAll(MADE)) owners.set(name, area)
  const unused = new Set(EXCEPTIONS)
  const faults = files.flatMap(({ path, area, sql }) => {
    const below = [area, ...(directions[area] ?? []), ...(BELOW[area] ?? [])]
    const names = new Set([...sql.matchAll(NAMED)].map(({ groups }) => nameOf(groups)))
    return [...names].flatMap((name) => {
      const owner = owners.get(name)
      if (owner === undefined || below.includes(owner)) return []
      unused.delete(`${area} ${name}`)
      if (EXCEPTIONS.has(`${area} ${name}`)) return []
      return [{ path, line: 1, rule: `SQL of ${area}/ may not name ${name} of ${owner}/` }]
    })
  })
  return [
    ...faults,
    ...[...unused].map((row) => ({
      path: 'scripts/tidy-sql.ts',
      line: 1,
      rule: `nothing needs the exception ${row}`,
    })),
  ]
}

const nameOf = (groups: Readonly<Record<string, string | undefined>> = {}): string =>
  (groups['table'] ?? groups['routine'] ?? '').toLowerCase()
