// POST /v1/databases: writes down what is wanted, empty or from backups; the agent's reconciler makes it.
import {
  DATABASE_SIZE_DEFAULT,
  DATABASE_SIZES,
  DATABASES_MAX,
  type DatabaseRequest,
} from '#contract/databases.ts'
import { fault } from '#contract/errors.ts'
import { bytesOfSize } from '#contract/sizes.ts'
import { setEnergyBudget } from '#resources/set-energy-budget.ts'
import { LIMITED } from '#databases/operations/limited-operations.ts'
import { findDatabase, replyOf } from '#databases/operations/find-database.ts'
import type { GatewaySettings } from '#databases/settings.ts'
import { newPassword } from '#databases/logins/new-password.ts'
import { recordAct } from '#identity/audit.ts'
import type { Handler } from '#http/reply.ts'
import type { Queryable, State } from '#state/connect.ts'
import { findOrigin } from './find-origin.ts'
import { callerOf } from '#identity/principal.ts'

const TOO_MANY = 'EG020'

export function createDatabaseCreate(deps: {
  readonly state: State
  readonly settings: GatewaySettings
}): Handler<DatabaseRequest> {
  const { state, settings } = deps
  return async (call) => {
    const { who, body } = call
    const { name, region, size, energy_budget: budget, from } = body
    const { account } = callerOf(who)
    if (!settings.isOn) throw fault('databases_off', `Could not create "${name}"`)
    if (region !== 'auto' && region !== settings.region)
      throw fault(
        'invalid_request',
        `Could not create "${name}": there is no region "${region}"; there are auto, ${settings.region}`,
        { param: 'region' },
      )
    const made = await state
      .transaction(async (transaction) => {
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
        if (budget !== undefined)
          await setEnergyBudget(transaction, { id, account, budget, operations: LIMITED })
        await addOwner(transaction, settings, id)
        if (origin !== undefined)
          await transaction.query('select want_restore($1, $2, $3, $4)', [
            id,
            origin.database,
            origin.backup,
            origin.until,
          ])
        const details = { ...body, region: settings.region }
        await recordAct(transaction, call, { action: 'database.create', target: id, details })
        return await findDatabase(transaction, account, id)
      })
      .catch((error: unknown) => {
        if ((error as { code?: string }).code !== TOO_MANY) throw error
        throw fault(
          'too_many_databases',
          `Could not create "${name}": an account has at most ${DATABASES_MAX}`,
        )
      })
    const reply = replyOf(made, settings)
    return { kind: 'known', status: 201, body: () => reply }
  }
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
