// GET /v1/topups and GET /v1/topups/{topup}.
import { idCursor, readListPage } from '#http/list-page.ts'
import type { Handler } from '#http/reply.ts'
import type { Queryable } from '#state/connect.ts'
import { findTopup, listTopups } from '#payments/find-topup.ts'
import { callerOf } from '#identity/principal.ts'

const CURSOR = idCursor('pay')

type Deps = { readonly state: Queryable }

export const createTopupGet =
  ({ state }: Deps): Handler =>
  async ({ caller, parameters }) => {
    const reply = await findTopup(state, callerOf({ caller }).account, parameters['topup'] ?? '')
    return { kind: 'known', status: 200, body: () => reply }
  }

export const createTopupList =
  ({ state }: Deps): Handler =>
  async ({ caller, query: queryOf }) => {
    const page = readListPage(queryOf(), CURSOR.form)
    const before = page.cursor?.[0] ?? CURSOR.end
    const found = await listTopups(state, callerOf({ caller }).account, {
      before,
      limit: page.rowsMax,
    })
    const reply = page.list(
      found,
      (topup) => topup,
      ({ id }) => id,
    )
    return { kind: 'known', status: 200, body: () => reply }
  }
