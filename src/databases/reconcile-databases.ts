// The databases that accounts want, made and removed: the reconciler of resources for this kind.
import { invariant } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { readMadeLogins, recordMade } from './logins/made-logins.ts'
import { OWNER_LABEL } from './logins/owner-label.ts'
import type { AgentCore } from '#node/agent-part.ts'
import { reconcile, type ReconcilerDeps } from '#resources/reconciler.ts'
import { heldOf, type Resource } from '#resources/resource.ts'
import { isLocked, type Queryable } from '#state/connect.ts'
import type { AwakeServer } from './agent-socket/awake-server.ts'
import { suspendedWords } from './agent-socket/state-words.ts'
import { keepLastLog, type LastLogDeps } from './backups/last-log.ts'
import { createRecoveries, type Recoveries } from './backups/recoveries.ts'
import type { FrontCell } from './front-cell.ts'
import { failureBefore } from './server/failing-start.ts'
import { recordInstalled } from './server/look-inside.ts'
import type { DatabaseRoles } from './server/make-database.ts'
import type { Servers } from './server/servers.ts'

/** A start that takes longer recovers. */
const ASIDE_MS = 60_000

/** Works until the signal aborts. Never rejects. */
export const reconcileDatabases = (
  core: AgentCore,
  {
    front,
    awake,
    servers,
  }: {
    readonly front: FrontCell
    readonly awake: Pick<AwakeServer, 'cut' | 'keep'>
    readonly servers: Servers
  },
  signal: AbortSignal,
): Promise<void> => {
  const { state, log } = core
  const recoveries = createRecoveries(core, servers)
  return reconcile(
    {
      state,
      log,
      kind: 'database',
      async deploy(resource, wanted, aside) {
        await front.ready(signal)
        // First: sessions of a deleted role end also where the work in the server fails.
        awake.keep(resource.id, await readMadeLogins(state, resource.id))
        await recoveries.recover({ ...resource, ...(await rolesOf(state, resource.id)) }, signal)
        // A recovery may take long: then other accounts do not wait for it.
        const late = setTimeout(aside, ASIDE_MS).unref()
        await deploy(state, { servers, resource }, wanted).finally(() => clearTimeout(late))
        awake.keep(resource.id, await readMadeLogins(state, resource.id))
      },
      async suspend({ id, name }) {
        await recoveries.cancel(id)
        const held = await heldOf(state, id)
        await awake.cut(id, suspendedWords({ name, held }))
        await servers.stop(id, held === 'balance' ? 'balance' : 'suspended')
      },
      remove: removal(core, { recoveries, servers, storing: () => front.ready(signal) }),
    },
    signal,
  )
}

/** The removal on a node that runs no databases. */
export function removalWithoutServer(core: AgentCore, servers: Servers): ReconcilerDeps['remove'] {
  const storing = async () => {
    throw fault('databases_off', 'Could not start the server of the database')
  }
  return removal(core, { recoveries: createRecoveries(core, servers), servers, storing })
}

const removal =
  (
    core: AgentCore,
    {
      recoveries,
      servers,
      storing,
    }: {
      readonly recoveries: Pick<Recoveries, 'remove'>
      readonly servers: Servers
      readonly storing: LastLogDeps['storing']
    },
  ): ReconcilerDeps['remove'] =>
  async (resource) => {
    await recoveries.remove(resource.id)
    await servers.remove(resource.id, () => keepLastLog({ ...core, storing }, servers, resource))
  }

async function deploy(
  state: Queryable,
  { servers, resource }: { readonly servers: Servers; readonly resource: Resource },
  signal: AbortSignal,
): Promise<void> {
  const { id } = resource
  const roles = await rolesOf(state, id)
  try {
    await recordInstalled(state, id, await servers.deploy({ ...resource, ...roles }, signal))
    await recordMade(state, id, roles.readers)
  } catch (error) {
    throw isLocked(error) ? locked(error) : (failureBefore(error)?.toFault(resource.name) ?? error)
  } finally {
    // Once: a script that fails would fail again. A suspension ends the deployment before its scripts, maybe.
    if (roles.wantsUpgrade && !signal.aborted)
      await state.query('update databases set wants_upgrade = false where id = $1', [id])
  }
}

const locked = (cause: unknown) =>
  fault(
    'database_not_ready',
    'Could not change the roles or extensions: an open transaction of the database holds a lock',
    { cause },
  )

/** The roles in the server. Logins that write are the owner there. */
async function rolesOf(state: Queryable, id: string): Promise<DatabaseRoles> {
  const { rows } = await state.query<DatabaseRoles>(
    `select o.name as owner, d.wants_upgrade as "wantsUpgrade", array(
       select name from database_roles where database = d.id and is_read_only order by name) as readers
     from databases d join database_roles o on o.database = d.id and o.label = $2 where d.id = $1`,
    [id, OWNER_LABEL],
  )
  const [roles] = rows
  invariant(roles !== undefined, `A database has an owner: ${id}`)
  return roles
}
