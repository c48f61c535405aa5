// POST /v1/databases: writes down what is wanted, empty or from backups; the agent's reconciler makes it.
import { DATABASES_MAX } from '#contract/databases/databases-max.ts'
import {
  DATABASE_SIZE_DEFAULT,
  DATABASE_SIZES,
  type DatabaseRequest,
} from '#contract/databases/databases.ts'
import { present } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { bytesOfSize } from '#contract/values/sizes.ts'
import { setEnergyBudget } from '#resources/set-energy-budget.ts'
import { tooManyFault } from '#resources/too-many.ts'
import { LIMITED } from '#databases/limited-operations.ts'
import { SHOWN_DATABASES, type DatabaseRow } from '#databases/find-database.ts'
import type { GatewaySettings } from '#databases/settings.ts'
import { newPassword } from '#databases/logins/new-password.ts'
import { recordAct, type ActingCall } from '#identity/audit.ts'
import type { Handler } from '#http/reply.ts'
import { createResourceDeploy } from '#http/resource-operations.ts'
import type { Queryable, State } from '#state/connect.ts'
import { findOrigin, type BackupOrigin } from '#databases/find-origin.ts'

type Deps = { readonly state: State; readonly settings: GatewaySettings }

export function createDatabaseCreate(deps: Deps): Handler<DatabaseRequest> {
  const create = createResourceDeploy(SHOWN_DATABASES, deps, createDatabase)
  return (call) => {
    if (!deps.settings.isOn) throw fault('databases_off', `Could not create "${call.body.name}"`)
    return create(call)
  }
}

/** Writes down what is wanted, with its entry in the audit log. Throws what the operation refuses. */
export async function createDatabase(
  transaction: Queryable,
  call: ActingCall,
  given: { readonly request: DatabaseRequest; readonly settings: GatewaySettings },
): Promise<DatabaseRow> {
  const { request, settings } = given
  const { name, region } = request
  const { account } = present(call.caller, 'a database is asked for with a token')
  if (region !== 'auto' && region !== settings.region)
    throw fault(
      'invalid_request',
      `Could not create "${name}": there is no region "${region}"; there are auto, ${settings.region}`,
      { param: 'region' },
    )
  const { id, origin } = await addDatabase(transaction, account, given).catch((error: unknown) => {
    const tooMany = tooManyFault(error, {
      code: 'too_many_databases',
      what: `Could not create "${name}"`,
      most: `${DATABASES_MAX} databases`,
    })
    throw tooMany ?? error
  })
  const budget = request.energy_budget === undefined ? origin?.energyBudget : request.energy_budget
  await setEnergyBudget(transaction, { id, account, budget, operations: LIMITED })
  const details = { ...request, region: settings.region }
  await recordAct(transaction, call, { action: 'database.create', target: id, details })
  return await SHOWN_DATABASES.find(transaction, account, id)
}

/** Adds the database with its owner, and with its restore where it is made from backups. */
async function addDatabase(
  transaction: Queryable,
  account: string,
  { request: { name, size, from }, settings }: Parameters<typeof createDatabase>[2],
): Promise<{ readonly id: string; readonly origin: BackupOrigin | undefined }> {
  const origin =
    from && (await findOrigin(transaction, { account, keptMs: settings.backupsKeptMs }, from))
  const bytes = size === undefined ? origin?.sizeBytes : bytesOfSize(size, DATABASE_SIZES)
  const { rows } = await transaction.query<{ id: string | null }>(
    'select add_database($1, $2, $3, $4, $5) as id',
    [
      account,
      name,
      settings.region,
      DATABASES_MAX,
      bytes ?? bytesOfSize(DATABASE_SIZE_DEFAULT, DATABASE_SIZES),
    ],
  )
  const id = rows[0]?.id
  if (typeof id !== 'string')
    throw fault('database_exists', `Could not create the database: "${name}" exists already`)
  await addOwner(transaction, settings, id)
  if (origin !== undefined)
    await transaction.query('select want_restore($1, $2, $3, $4)', [
      id,
      origin.database,
      origin.backup,
      origin.until,
    ])
  return { id, origin }
}

async function addOwner(state: Queryable, settings: GatewaySettings, id: string): Promise<void> {
  const role = `u${id.slice(id.indexOf('_'))}`
  const key = settings.passwordKey
  const { revision, verifier } = await newPassword(state, { key, role })
  await state.query(
    'insert into database_roles (name, database, revision, verifier) values ($1, $2, $3, $4)',
    [role, id, revision, verifier],
  )
}
