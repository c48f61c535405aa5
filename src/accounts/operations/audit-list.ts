// GET /v1/audit: who changed what of the account, the newest first.
import type { AuditEntry } from '#contract/accounts/audit.ts'
import { fault } from '#contract/errors.ts'
import { OPERATIONS } from '#contract/operations.ts'
import { idCursor, readListPage } from '#http/list-page.ts'
import type { Handler } from '#http/reply.ts'
import type { Queryable } from '#state/connect.ts'
import { callerOf } from '#identity/principal.ts'

type Row = {
  id: string
  at: Date
  action: string
  token: string | null
  by_system: boolean
  token_name: string | null
  member: AuditEntry['actor']['member']
  request: string | null
  target: string
  details: Record<string, unknown>
}

const CURSOR = idCursor('aud')

const SELECT = `select e.id, e.at, e.action, e.token, e.by_system, coalesce(e.token_name, t.name) as token_name,
    case when m.id is not null then jsonb_build_object('id', m.id, 'name', coalesce(e.member_name, m.name)) end as member, e.request, e.target, e.details
  from audit_entries e left join tokens t on t.id = e.token left join members m on m.id = t.member
  where e.account = $1 and e.id < $2
    and ($3::text is null or e.action = $3) and ($4::text is null or e.target = $4)
  order by e.id desc limit $5`

const entryOf = (row: Row): AuditEntry => ({
  id: row.id,
  object: 'audit.entry',
  at: row.at.toISOString(),
  action: row.action,
  actor: {
    type: row.token !== null ? 'token' : row.by_system ? 'system' : 'operator',
    id: row.token,
    name: row.token_name,
    member: row.member,
  },
  target: row.target,
  request_id: row.request,
  details: row.details,
})

export const createAuditList =
  ({ state }: { readonly state: Queryable }): Handler =>
  async ({ caller, query: queryOf }) => {
    const query = queryOf()
    const page = readListPage(query, CURSOR.form)
    const action = query.get('action')
    const { rows } = await state.query<Row>(SELECT, [
      callerOf({ caller }).account,
      page.cursor?.[0] ?? CURSOR.end,
      action,
      query.get('target'),
      page.rowsMax,
    ])
    if (rows.length === 0 && action !== null) await demandAction(action)
    const reply = page.list(rows, entryOf, ({ id }) => id)
    return { kind: 'known', status: 200, body: () => reply }
  }

/** Acts are recorded as the operations of the API and of the operator. Throws invalid_request. */
async function demandAction(action: string): Promise<void> {
  if (Object.hasOwn(OPERATIONS, action)) return
  // Gateways need the operator's schemas for nothing else.
  const { CONTROL } = await import('#contract/control.ts')
  if (Object.hasOwn(CONTROL, action)) return
  throw fault(
    'invalid_request',
    `Could not list the changes: there is no action "${action.slice(0, 60)}"`,
    { param: 'action' },
  )
}
