// Databases of description files.
import { printEnergyPerDay } from '#contract/values/energy-budget.ts'
import { fault } from '#contract/errors.ts'
import { DATABASE_SIZE_DEFAULT, parseDatabaseRequest } from '#contract/databases/databases.ts'
import { sizeText } from '#contract/values/sizes.ts'
import { removeOf } from '#resources/delete-resource.ts'
import { assertRegion, BUDGET, foundBudget, wantedBudget } from '#resources/stack-attributes.ts'
import {
  attributeOf,
  type FoundResource,
  type StackPart,
  type StackProduct,
  type StackWish,
} from '#resources/stack-part.ts'
import { createDatabase } from './operations/database-create.ts'
import { connectionUrl } from './operations/database-url.ts'
import { updateDatabase } from './operations/database-update.ts'
import { SHOWN_DATABASES, type DatabaseRow } from './find-database.ts'
import type { GatewaySettings } from './settings.ts'

export const DATABASES_STACK: StackProduct<GatewaySettings> = {
  name: 'databases',
  open: (_, settings) => ({ database: createDatabasePart(settings) }),
}

const createDatabasePart = (settings: GatewaySettings): StackPart<'database'> => ({
  secretOutputs: ['url'],
  exclusive: [],
  wanted({ name, spec }) {
    if (!settings.isOn) throw fault('databases_off', `Could not create "${name}"`)
    assertRegion(spec.region, settings.region)
    return {
      size: attributeOf(spec.size ?? null, (bytes) =>
        bytes === null ? DATABASE_SIZE_DEFAULT : sizeText(bytes),
      ),
      ...wantedBudget(spec.energy_budget),
    }
  },
  async find(state, { account, name }) {
    const row = await SHOWN_DATABASES.named(state, account, name)
    return row && foundOf(row, settings)
  },
  async apply(transaction, call, { wish, found, changed }) {
    const request = requestOf(wish)
    if (found === undefined)
      return (await createDatabase(transaction, call, { request, settings })).id
    const resource = await SHOWN_DATABASES.find(transaction, wish.account, found.id)
    const change = {
      ...(changed.has('size') && { size: request.size }),
      ...(changed.has(BUDGET) && { energy_budget: request.energy_budget ?? null }),
    }
    await updateDatabase(transaction, call, { resource, change })
    return found.id
  },
  remove: removeOf('database'),
})

/** Throws invalid_request. */
const requestOf = ({ name, spec }: StackWish<'database'>) =>
  parseDatabaseRequest({
    name,
    size: typeof spec.size === 'number' ? sizeText(spec.size) : DATABASE_SIZE_DEFAULT,
    ...(typeof spec.energy_budget === 'bigint' && {
      energy_budget: printEnergyPerDay(spec.energy_budget),
    }),
  })

function foundOf(row: DatabaseRow, settings: GatewaySettings): FoundResource {
  const { id, name } = row
  const shown = SHOWN_DATABASES.replyOf(row, settings)
  const owner = { name: row.role, revision: row.revision }
  return {
    id,
    attributes: {
      size: sizeText(shown.size_bytes),
      ...foundBudget(shown),
    },
    outputs: { id, url: connectionUrl(settings, name, owner), host: shown.host },
    progress: progressOf(shown),
    // Its tables are not looked at: any database may hold data.
    holds: 'a database',
  }
}

function progressOf({
  status,
  reason,
}: ReturnType<typeof SHOWN_DATABASES.replyOf>): FoundResource['progress'] {
  if (status === 'deployed' || status === 'suspended') return 'ready'
  return status === 'failed' ? { failed: reason ?? 'it could not be made' } : 'waiting'
}
