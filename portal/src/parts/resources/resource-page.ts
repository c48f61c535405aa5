// The page of a resource of the account.
const PAGES: Readonly<Record<string, string>> = {
  workload: '/workloads/',
  function: '/functions/',
  database: '/databases/',
  bucket: '/storage/',
  webhook: '/webhooks/',
}

/** Undefined of a kind without a page. */
export function resourcePage(resource: {
  readonly kind: string
  readonly name: string
  readonly id: string
}): string | undefined {
  const { kind, name, id } = resource
  const page = PAGES[kind]
  return page && `${page}${kind === 'webhook' ? id : name}`
}
