// GET /v1/lookup/{id}: the kind of the thing that an id names, and where the API has it. Only things of the account are
// found.
import { fault } from '#contract/errors.ts'
import { LOOKUP_ID } from '#contract/accounts/lookup-id.ts'
import type { Lookups } from '#http/gateway-part.ts'
import type { Handler } from '#http/reply.ts'
import { callerOf } from '#identity/principal.ts'
import type { Posted } from '#ledger/posted.ts'

export const createLookupGet =
  (deps: { readonly lookups: () => Lookups; readonly posted: Posted }): Handler =>
  async ({ caller, parameters, signal }) => {
    const id = parameters['id'] ?? ''
    const lookup = deps.lookups()[LOOKUP_ID.exec(id)?.[1] ?? '']
    if (lookup !== undefined) await deps.posted(signal)
    const found = await lookup?.find(callerOf({ caller }).account, id)
    if (lookup === undefined || found === undefined)
      throw fault('not_found', `Could not find the id: "${id.slice(0, 100)}"`)
    const reply = { object: 'lookup', id, kind: lookup.kind, ...found }
    return { kind: 'known', status: 200, body: () => reply }
  }
