// Host names that accounts give to what they run, beside its own address. A host is of one resource.
import type { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import type { Queryable } from '#state/connect.ts'
import { hasSqlState } from '#state/sql-states.ts'

const UNIQUE = '23505'

/** An address, in any of the forms that browsers read as one. Source: WHATWG URL, "ends in a number". */
const ADDRESS = /[[:]|(?:^|\.)(?:\d+|0x[\da-f]*)\.?$/i

/** Names below localhost lead to this machine, and are free except ours. Addresses lead to the node, with all its accounts. */
export const isOwnHost = (host: string, own: readonly string[]): boolean =>
  ADDRESS.test(host) ||
  own.some((name) => host === name || (name !== 'localhost' && host.endsWith(`.${name}`)))

/** Replaces the hosts of a resource; without a list they stay. Throws host_taken. */
export async function setHosts(
  transaction: Queryable,
  id: string,
  {
    routes,
    ownHosts,
  }: { readonly routes: readonly string[] | undefined; readonly ownHosts: readonly string[] },
): Promise<void> {
  if (routes === undefined) return
  const ours = routes.find((host) => isOwnHost(host, ownHosts))
  if (ours !== undefined) throw hostTaken(ours)
  await transaction
    .query('select host_resource($1, $2)', [id, [...new Set(routes)]])
    .catch((error: unknown) => {
      throw isHostTaken(error) ? hostTaken('one of its routes') : error
    })
}

/** An error of SQL that routes a host. */
export function isHostTaken(error: unknown): boolean {
  const { code } = error as { readonly code?: string }
  return code === UNIQUE || hasSqlState(error, 'hostOfAnother')
}

export const hostTaken = (host: string): ErgonError =>
  fault('host_taken', `Could not use the host: ${host} is taken`, { param: 'routes' })
