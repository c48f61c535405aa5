// GET /v1/ledger: each posting of the account's money. All of them together are the balance, to the pico-dollar.
import { fault } from '#contract/errors.ts'
import { OPERATIONS, serviceOf } from '#contract/operations.ts'
import { LEDGER_KINDS, type LedgerKind } from '#contract/payments/payments.ts'
import { readListPage, type AskedPage } from '#http/list-page.ts'
import { readTime } from '#http/read-time.ts'
import type { Handler } from '#http/reply.ts'
import { ledgerCsv } from '#ledger/ledger-csv.ts'
import type { Posted } from '#ledger/posted.ts'
import { ledgerEntryOf } from '#payments/entry-reply.ts'
import type { LedgerFilter, LedgerPosition, LedgerRow } from '#payments/ledger-entry.ts'
import { FIRST_POSITION, ledgerOfId, ledgerPage, newestOf } from '#payments/ledger-page.ts'
import { ledgerSums, type LedgerSums } from '#payments/ledger-sums.ts'
import type { Queryable, State } from '#state/connect.ts'
import { callerOf } from '#identity/principal.ts'
import { inSnapshot } from '#state/snapshot.ts'

const CURSOR = /^(infinity|[\dT:.Z-]{27})_([01])_(\d{1,18})_(\d{1,18})_(\d{1,18})$/
const ID = /^[a-z]{2,8}_[0-9a-z]{1,40}$/

type LedgerListed = {
  readonly rows: readonly LedgerRow[]
  readonly nextCursor: string | null
  readonly sums: LedgerSums | null
  readonly balance: string | null
}

export function createLedgerList(deps: {
  readonly state: State
  readonly posted: Posted
}): Handler {
  return async ({ caller, query: queryOf, headers, signal }) => {
    const query = queryOf()
    const { account } = callerOf({ caller })
    const filter = readFilter(account, query)
    const id = query.get('id')
    if (id !== null && !ID.test(id))
      throw wrong('id', `"${id.slice(0, 60)}" is not the id of an entry, a receipt or a request`)
    const page = readListPage(query, CURSOR)
    await deps.posted(signal)
    // The sums are of the same moment as the entries.
    const listed = await inSnapshot(deps.state, async (snapshot) => {
      if (id === null) return await listPage(snapshot, filter, page)
      return {
        rows: await ledgerOfId(snapshot, account, id),
        nextCursor: null,
        sums: null,
        balance: null,
      }
    })
    const entries = listed.rows.map(ledgerEntryOf)
    const { nextCursor } = listed
    if (/\btext\/csv\b/.test(headers['accept'] ?? ''))
      return {
        kind: 'known',
        status: 200,
        contentType: 'text/csv; charset=utf-8',
        headers: nextCursor === null ? {} : { 'X-Next-Cursor': nextCursor },
        body: () => ledgerCsv(entries),
      }
    const reply = {
      object: 'list',
      unit: callerOf({ caller }).env === 'test' ? 'tUSD' : 'USD',
      data: entries,
      has_more: nextCursor !== null,
      next_cursor: nextCursor,
      balance_pusd: listed.balance,
      sums: listed.sums,
    }
    return { kind: 'known', status: 200, body: () => reply }
  }
}

async function listPage(
  state: Queryable,
  filter: LedgerFilter,
  page: AskedPage,
): Promise<LedgerListed> {
  const after = positionOf(page)
  const start = after ?? { ...FIRST_POSITION, ...(await newestOf(state, filter.account)) }
  const found = await ledgerPage(state, filter, { after: start, limit: page.rowsMax })
  const nextCursor = page.next(found, (last) =>
    [last.at_us, last.rank, last.number, start.chargeMax, start.transferMax].join('_'),
  )
  return {
    rows: page.of(found),
    nextCursor,
    sums: after === undefined ? await ledgerSums(state, filter) : null,
    balance: after === undefined ? await balanceOf(state, filter.account) : null,
  }
}

async function balanceOf(state: Queryable, account: string): Promise<string> {
  const { rows } = await state.query<{ posted: string }>(
    `select posted::text from wallets where id = 'money:' || $1`,
    [account],
  )
  return rows[0]?.posted ?? '0'
}

function readFilter(account: string, query: URLSearchParams): LedgerFilter {
  const kind = query.get('kind')
  if (kind !== null && !LEDGER_KINDS.some((known) => known === kind))
    throw wrong('kind', `"${kind.slice(0, 60)}" is not one of ${LEDGER_KINDS.join(', ')}`)
  const service = query.get('service')
  const operations = Object.keys(OPERATIONS).filter((name) => serviceOf(name) === service)
  if (service !== null && operations.length === 0)
    throw wrong('service', `there is no service "${service.slice(0, 60)}"`)
  const from = readTime(query.get('from'), 'from') ?? null
  const to = readTime(query.get('to'), 'to') ?? null
  if (from !== null && to !== null && from > to) throw wrong('to', '"to" is before "from"')
  return {
    account,
    from,
    to,
    operations: service === null ? null : operations,
    kind: kind as LedgerKind | null,
  }
}

function positionOf({ cursor }: AskedPage): LedgerPosition | undefined {
  if (cursor === undefined) return undefined
  const [, at = '', rank, number = '', chargeMax = '', transferMax = ''] = cursor
  if (at !== FIRST_POSITION.at && Number.isNaN(Date.parse(at)))
    throw wrong('cursor', '"cursor" has no time')
  return { at, rank: rank === '0' ? 0 : 1, number, chargeMax, transferMax }
}

const wrong = (param: string, why: string) =>
  fault('invalid_request', `Could not list the ledger: ${why}`, { param })
