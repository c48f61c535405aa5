// Routes of description files: a route is a host name of a workload. Its id names both, so that a host which was given to
// another workload by other means is another route.
import { ErgonError, present } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { parseWorkloadChange } from '#contract/workloads/workloads.ts'
import type { ActingCall } from '#identity/audit.ts'
import { isOwnHost } from '#ingress/own-hosts.ts'
import { attributeOf, settled, type StackPart } from '#resources/stack-part.ts'
import type { Queryable } from '#state/connect.ts'
import { changeWorkload } from './operations/workload-deploy.ts'
import { hostTaken } from './wanted-workload.ts'
import type { WorkloadGatewaySettings } from './settings.ts'
import { workloadUrl } from './workload-url.ts'

const WORKLOAD = 'workload.'

export const createRoutePart = (settings: WorkloadGatewaySettings): StackPart<'route'> => ({
  secretOutputs: [],
  exclusive: [],
  wanted({ name, spec }) {
    if (settings.address === undefined) throw fault('workloads_off', `Could not route ${name}`)
    if (isOwnHost(name, settings.ownHosts)) throw hostTaken(name)
    return { to: attributeOf(spec.to, String) }
  },
  async assertFree(state, { account, name }) {
    const { rowCount } = await state.query(OTHERS, [account, name])
    if (rowCount > 0) throw hostTaken(name)
  },
  async find(state, { account, name }) {
    const { rows } = await state.query<HostedWorkload>(
      `${HOSTED} where n.account = $1 and $2 = any (w.hosts) and n.desired <> 'deleted'`,
      [account, name],
    )
    const [workload] = rows
    const { address } = settings
    return (
      workload && {
        id: routeId(workload.id, name),
        attributes: { to: WORKLOAD + workload.name },
        outputs: address === undefined ? {} : { url: workloadUrl(address, name) },
        progress: 'ready',
      }
    )
  },
  async apply(transaction, call, { wish: { name: host, spec } }) {
    const to = settled(spec.to).slice(WORKLOAD.length)
    const workloads = await lockWorkloads(transaction, call, { host, to })
    const set = (workload: string, routes: readonly string[]) =>
      setHosts(transaction, call, { workload, routes, settings })
    for (const { id, name, hosts } of workloads)
      if (name !== to && hosts.includes(host)) await set(id, without(hosts, host))
    const { hosts = [] } = workloads.find(({ name }) => name === to) ?? {}
    const { id } = await set(to, [...without(hosts, host), host]).catch((error: unknown) => {
      throw error instanceof ErgonError && error.code === 'host_taken' ? hostTaken(host) : error
    })
    return routeId(id, host)
  },
  async remove(transaction, call, found) {
    const [workload, host = ''] = found.id.split('/')
    for (const { id, hosts } of await lockWorkloads(transaction, call, { host, to: undefined }))
      if (id === workload) {
        const routes = without(hosts, host)
        await setHosts(transaction, call, { workload, routes, settings })
      }
    return 'removed'
  },
})

type HostedWorkload = { readonly id: string; readonly name: string; readonly hosts: string[] }

const HOSTED = 'select n.id, n.name, w.hosts from workloads w join resources n using (id)'

/** Holders of the host other than workloads of the account, from which it is taken. */
const OTHERS = `select from ingress_routes i where i.host = $2 and not exists (
  select from workloads w where w.id = i.resource and w.account = $1 and $2 = any (w.hosts)) limit 1`

const routeId = (workload: string, host: string): string => `${workload}/${host}`

/** The workloads that have the host or will: until the end of the transaction nobody else changes their hosts. */
async function lockWorkloads(
  transaction: Queryable,
  call: ActingCall,
  { host, to }: { readonly host: string; readonly to: string | undefined },
): Promise<HostedWorkload[]> {
  const { account } = present(call.caller, 'a route is asked for with a token')
  const { rows } = await transaction.query<HostedWorkload>(
    `${HOSTED} where n.account = $1 and (n.name = $3 or $2 = any (w.hosts)) and n.desired <> 'deleted'
     order by n.id for update of w`,
    [account, host, to],
  )
  return rows
}

/** Throws host_taken, workload_not_found. */
const setHosts = (
  transaction: Queryable,
  call: ActingCall,
  {
    workload,
    routes,
    settings,
  }: {
    readonly workload: string
    readonly routes: readonly string[]
    readonly settings: WorkloadGatewaySettings
  },
) =>
  changeWorkload(transaction, call, {
    action: 'workload.update',
    workload,
    change: parseWorkloadChange({ routes }),
    settings,
  })

const without = (hosts: readonly string[], host: string): string[] =>
  hosts.filter((one) => one !== host)
