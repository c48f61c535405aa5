// GET /v1/operator/alarms: each with its finding and the command that shows more.
import { findingOf } from '#contract/node/alarms.ts'
import { fault } from '#contract/errors.ts'
import type { OperatorAlarm } from '#contract/operator/operator.ts'
import { readListPage, type ListReply } from '#http/list-page.ts'
import type { Handler } from '#http/reply.ts'
import type { Queryable } from '#state/connect.ts'
import { operatorOnly } from '#status/operator/operator-only.ts'

const CURSOR = /^[1-9]\d{0,17}$/
const AFTER_ALL = '999999999999999999'

type Row = Omit<OperatorAlarm, 'finding' | 'command' | 'at' | 'acknowledged_at'> & {
  readonly at: Date
  readonly acknowledged_at: Date | null
}

export const createOperatorAlarmList = (state: Queryable): Handler =>
  operatorOnly(state, ({ query }) => listAlarms(state, query()))

/** The page that the query asks for, the newest first. Throws invalid_request. */
async function listAlarms(
  state: Queryable,
  query: URLSearchParams,
): Promise<ListReply<OperatorAlarm>> {
  const page = readListPage(query, CURSOR)
  const isAll = readFlag(query.get('acknowledged'))
  const { rows } = await state.query<Row>(
    `select id::text, kind, detail, at, acknowledged_at from alarms
     where id < $1 and (acknowledged_at is null or $2) order by alarms.id desc limit $3`,
    [page.cursor?.[0] ?? AFTER_ALL, isAll, page.rowsMax],
  )
  return page.list(rows, entryOf, ({ id }) => id)
}

const entryOf = ({ at, acknowledged_at, ...row }: Row): OperatorAlarm => ({
  ...row,
  at: at.toISOString(),
  finding: findingOf(row.kind),
  command: commandOf(row.kind),
  acknowledged_at: acknowledged_at?.toISOString() ?? null,
})

function readFlag(text: string | null): boolean {
  if (text === null || text === 'false') return false
  if (text === 'true') return true
  throw fault('invalid_request', 'Could not list by acknowledged: it is true or false', {
    param: 'acknowledged',
  })
}

/** The command that shows more, by the beginning of the kind. */
const COMMANDS: readonly (readonly [kinds: RegExp, command: string])[] = [
  [/^journal_/, 'ergon admin journal list'],
  [/^task_/, 'ergon admin tasks'],
  [/^model_/, 'ergon models list'],
  [/^refund_to_make$|^account_money_left$/, 'ergon admin refund list'],
  [/^account_/, 'ergon admin account list'],
]

const commandOf = (kind: string): string =>
  COMMANDS.find(([kinds]) => kinds.test(kind))?.[1] ?? 'ergon status'
