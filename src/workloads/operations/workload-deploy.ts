// Deployments and changes of workloads in a transaction, for the operations of the API and for deployments of a stack.
import { present, type ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import {
  ACCOUNT_INSTANCES_MAX,
  WORKLOADS_MAX,
  WORKLOAD_VERSIONS_MAX,
} from '#contract/workloads/workload-limits.ts'
import type { WorkloadChange, WorkloadRequest } from '#contract/workloads/workloads.ts'
import { recordAct, type ActingCall } from '#identity/audit.ts'
import { hostTaken, isHostTaken, setHosts } from '#resources/hosts.ts'
import { setEnergyBudget } from '#resources/set-energy-budget.ts'
import { tooManyFault } from '#resources/too-many.ts'
import type { Queryable } from '#state/connect.ts'
import { hasSqlState } from '#state/sql-states.ts'
import type { WorkloadGatewaySettings } from '#workloads/settings.ts'
import { SHOWN_WORKLOADS, type WorkloadRow } from '#workloads/find-workload.ts'
import { WORKLOAD_LIMITED } from '#workloads/limited-operations.ts'
import { volumeQuota } from '#workloads/volumes/volume-quota.ts'
import { defaultsOf, wantedWorkload } from '#workloads/wanted-workload.ts'

const CHECK = '23514'
const AUTO = 'auto'

/** Writes a version down, with its entry in the audit log. Throws what the operation refuses. */
export async function deployWorkload(
  transaction: Queryable,
  call: ActingCall,
  given: { readonly request: WorkloadRequest; readonly settings: WorkloadGatewaySettings },
): Promise<WorkloadRow> {
  const { request, settings } = given
  const { name, region = AUTO, energy_budget: budget, ...wanted } = request
  const { account } = present(call.caller, 'a deployment is asked for with a token')
  const { address } = settings
  if (address === undefined) throw fault('workloads_off', `Could not deploy "${name}"`)
  if (region !== AUTO && region !== settings.region)
    throw fault('invalid_request', `Could not run in ${region}: there is ${settings.region}`, {
      param: 'region',
    })
  const assertVolumes = await volumeQuota(transaction, account, settings)
  const made = transaction.query<{ id: string }>(
    'select deploy_workload($1, $2, $3, $4, $5, $6, $7, $8) as id',
    [
      account,
      name,
      settings.region,
      WORKLOADS_MAX,
      address.host,
      JSON.stringify(defaultsOf(account, settings, request.scale)),
      JSON.stringify(wantedWorkload(wanted, account, settings)),
      WORKLOAD_VERSIONS_MAX,
    ],
  )
  const { rows } = await made.catch((error: unknown) => {
    throw workloadRefusal(error, name)
  })
  const { id } = present(rows[0], 'a deployment has a row')
  await setHosts(transaction, id, { routes: request.routes, ownHosts: settings.ownHosts })
  await assertVolumes()
  await assertInstances(transaction, account, request)
  await setEnergyBudget(transaction, { id, account, budget, operations: WORKLOAD_LIMITED })
  const details = shownOf(request)
  await recordAct(transaction, call, { action: 'workload.deploy', target: id, details })
  return await SHOWN_WORKLOADS.find(transaction, account, id)
}

/** Changes a workload, with an entry in the audit log. Throws what the operation refuses. */
export async function changeWorkload(
  transaction: Queryable,
  call: ActingCall,
  given: {
    readonly action: 'workload.update' | 'workload.scale'
    readonly workload: string
    readonly change: WorkloadChange
    readonly settings: WorkloadGatewaySettings
  },
): Promise<WorkloadRow> {
  const { action, change, settings } = given
  const { account } = present(call.caller, 'a change is asked for with a token')
  const { id, name } = await SHOWN_WORKLOADS.find(transaction, account, given.workload)
  const { energy_budget: budget, ...wanted } = change
  const assertVolumes = await volumeQuota(transaction, account, settings)
  await transaction
    .query('select change_workload($1, $2, $3)', [
      id,
      JSON.stringify(wantedWorkload(wanted, account, settings)),
      WORKLOAD_VERSIONS_MAX,
    ])
    .catch((error: unknown) => {
      throw workloadRefusal(error, name)
    })
  await setHosts(transaction, id, { routes: change.routes, ownHosts: settings.ownHosts })
  await assertVolumes()
  await assertInstances(transaction, account, change)
  await transaction.query('select want_resource(id, desired) from resources where id = $1', [id])
  await setEnergyBudget(transaction, { id, account, budget, operations: WORKLOAD_LIMITED })
  await recordAct(transaction, call, { action, target: id, details: shownOf(change) })
  return await SHOWN_WORKLOADS.find(transaction, account, id)
}

/** Throws too_many_instances: those that must run together are too many for an account. */
async function assertInstances(
  transaction: Queryable,
  account: string,
  { scale }: Pick<WorkloadChange, 'scale'>,
): Promise<void> {
  if (scale?.min === undefined) return
  const { rows } = await transaction.query<{ least: string }>(
    'select least_instances($1)::text as least',
    [account],
  )
  if (Number(rows[0]?.least) > ACCOUNT_INSTANCES_MAX)
    throw fault(
      'too_many_instances',
      `Could not scale: all workloads of an account have at most ${ACCOUNT_INSTANCES_MAX} instances, and scale.min asks for ${rows[0]?.least}`,
      { param: 'scale' },
    )
}

/** A request without the values of its variables. */
const shownOf = ({
  env,
  secrets,
  ...shown
}: WorkloadChange): Readonly<Record<string, unknown>> => ({
  ...shown,
  ...(env && { env: Object.keys(env) }),
  ...(secrets && { secrets: Object.keys(secrets) }),
})

export function workloadRefusal(error: unknown, name: string): unknown {
  const { code, message } = error as { readonly code?: string; readonly message: string }
  const tooMany = tooManyFault(error, {
    code: 'too_many_workloads',
    what: `Could not deploy "${name}"`,
    most: `${WORKLOADS_MAX} workloads`,
  })
  if (tooMany !== undefined) return tooMany
  const ofVolumes = volumeRefusal(error, message)
  if (ofVolumes !== undefined) return ofVolumes
  // Another account may have had the workload's own address as a host before the service got its domain.
  if (isHostTaken(error)) return hostTaken(`the address of "${name}"`)
  return code === CHECK
    ? fault('invalid_request', 'Could not scale: min is more than max', { param: 'scale' })
    : error
}

/** The refusal of an error whose message is the name of the volume. */
function volumeRefusal(error: unknown, name: string): ErgonError | undefined {
  if (hasSqlState(error, 'volumeSmaller')) return smallerVolume(name)
  if (hasSqlState(error, 'volumeLeftOut'))
    return fault(
      'volume_left_out',
      `Could not leave out the volume "${name}": its data would be deleted`,
      { param: 'volumes' },
    )
  if (!hasSqlState(error, 'volumeShared')) return undefined
  const why = 'a workload with a volume has one instance at most'
  return fault('invalid_request', `Could not scale: ${why}`, { param: 'scale' })
}

export const smallerVolume = (name: string) =>
  fault('volume_smaller', `Could not make the volume "${name}" smaller`, { param: 'volumes' })
