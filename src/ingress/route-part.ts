// Routes of description files: a route is a host name of a workload or a function. Its id names both, so that a host which
// was given to another resource by other means is another route.
import { ErgonError, present } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { urlOfHost, type FunctionsAddress } from '#contract/functions/functions-address.ts'
import { parseHostRoutes } from '#contract/resources/host-routes.ts'
import { recordAct, type ActingCall } from '#identity/audit.ts'
import { ADVISORY_LOCKS } from '#state/advisory-locks.ts'
import type { Queryable } from '#state/connect.ts'
import { hostTaken, isOwnHost, setHosts } from '#resources/hosts.ts'
import { attributeOf, settled, type StackPart, type StackProduct } from '#resources/stack-part.ts'

export type RouteSettings = {
  /** Where routes answer; undefined where the node has none. */
  readonly address?: FunctionsAddress | undefined
  /** The hosts of the service itself. */
  readonly ownHosts: readonly string[]
}

/** The settings are those of the ingress. */
export const ROUTES_STACK: StackProduct<RouteSettings> = {
  name: 'ingress',
  open: (_, settings) => ({ route: createRoutePart(settings) }),
}

const createRoutePart = ({ address, ownHosts }: RouteSettings): StackPart<'route'> => ({
  secretOutputs: [],
  exclusive: [],
  wanted({ name, spec }) {
    if (isOwnHost(name, ownHosts)) throw hostTaken(name)
    return { to: attributeOf(spec.to, String) }
  },
  async assertFree(state, { account, name }) {
    const { rowCount } = await state.query(OTHERS, [account, name])
    if (rowCount > 0) throw hostTaken(name)
  },
  async find(state, { account, name }) {
    const { rows } = await state.query<HostedResource>(
      `${HOSTED} where account = $1 and $2 = any (hosts) and desired <> 'deleted'`,
      [account, name],
    )
    const [holder] = rows
    return (
      holder && {
        id: routeId(holder.id, name),
        attributes: { to: addressOf(holder) },
        outputs: address === undefined ? {} : { url: urlOfHost(address, name) },
        progress: 'ready',
      }
    )
  },
  async apply(transaction, call, { wish: { name: host, spec } }) {
    const to = settled(spec.to)
    const hosted = await lockHosted(transaction, call, { host, to })
    const target = hosted.find((one) => addressOf(one) === to)
    if (target === undefined) throw targetNotFound(to)
    const set = (one: HostedResource, routes: readonly string[]) =>
      changeHosts(transaction, call, one, { routes, ownHosts })
    for (const one of hosted)
      if (one !== target && one.hosts.includes(host)) await set(one, without(one.hosts, host))
    await set(target, [...without(target.hosts, host), host]).catch((error: unknown) => {
      throw error instanceof ErgonError && error.code === 'host_taken' ? hostTaken(host) : error
    })
    return routeId(target.id, host)
  },
  async remove(transaction, call, found) {
    const [id, host = ''] = found.id.split('/')
    for (const one of await lockHosted(transaction, call, { host, to: '' }))
      if (one.id === id) {
        const routes = without(one.hosts, host)
        await changeHosts(transaction, call, one, { routes, ownHosts })
      }
    return 'removed'
  },
})

type HostedResource = {
  readonly id: string
  readonly kind: string
  readonly name: string
  readonly hosts: string[]
}

const HOSTED = 'select id, kind, name, hosts from resources'

/** Holders of the host other than resources of the account, from which it is taken. */
const OTHERS = `select from ingress_routes i where i.host = $2 and not exists (
  select from resources n where n.id = i.resource and n.account = $1 and $2 = any (n.hosts)) limit 1`

const routeId = (resource: string, host: string): string => `${resource}/${host}`

/** As descriptions name it: workload.api. */
const addressOf = ({ kind, name }: Pick<HostedResource, 'kind' | 'name'>): string =>
  `${kind}.${name}`

/** The resource was deleted since the plan. */
function targetNotFound(to: string): ErgonError {
  const [kind, name = ''] = to.split('.')
  const code = kind === 'function' ? 'function_not_found' : 'workload_not_found'
  return fault(code, `Could not find the ${kind}: "${name}"`)
}

/** The resources that have the host or will. Until the end of the transaction nobody else changes their hosts, or takes one. */
async function lockHosted(
  transaction: Queryable,
  call: ActingCall,
  { host, to }: { readonly host: string; readonly to: string },
): Promise<HostedResource[]> {
  const { account } = present(call.caller, 'a route is asked for with a token')
  // As host_resource() does: the next statement reads all changes of hosts before this one.
  await transaction.query(
    `select pg_advisory_xact_lock(${ADVISORY_LOCKS.accountResources}, hashtext($1))`,
    [account],
  )
  const { rows } = await transaction.query<HostedResource>(
    `${HOSTED} where account = $1 and (kind || '.' || name = $3 or $2 = any (hosts)) and desired <> 'deleted'
     order by id for update`,
    [account, host, to],
  )
  await transaction.query('select lock_hosts($1, $2)', [rows.map(({ id }) => id), [host]])
  return rows
}

/** Throws host_taken, invalid_request. */
async function changeHosts(
  transaction: Queryable,
  call: ActingCall,
  { id, kind }: HostedResource,
  {
    routes,
    ownHosts,
  }: { readonly routes: readonly string[]; readonly ownHosts: readonly string[] },
): Promise<void> {
  parseHostRoutes({ routes })
  await setHosts(transaction, id, { routes, ownHosts })
  await recordAct(transaction, call, { action: `${kind}.update`, target: id, details: { routes } })
}

const without = (hosts: readonly string[], host: string): string[] =>
  hosts.filter((one) => one !== host)
