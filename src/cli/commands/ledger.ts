// ergon ledger: each posting of the account's money, as a table, JSON or CSV.
import { nj, printJoules } from '#base/units.ts'
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiGet, replyOf } from '#cli/client.ts'
import { dollars } from '#cli/money.ts'
import { CommandError, EXIT, print, printJson, table } from '#cli/output.ts'
import { spanOf } from '#cli/span.ts'
import type { ledgerList } from '#contract/payments/payments.ts'
import type { ReplyOf } from '#contract/reply-of.ts'

const PAGE_MAX = 1000
const LIMIT = 100
const EXAMPLE = 'ergon ledger --csv --from 2026-11-01 --to 2026-12-01'

type Entry = LedgerPage['data'][number]
type LedgerPage = ReplyOf<typeof ledgerList>

export async function run({ options }: CommandCall): Promise<void> {
  const isCsv = options['csv'] === true
  if (isCsv && options.json)
    throw new CommandError('Give --csv or --json, not both', EXIT.usage, EXAMPLE)
  const limit = limitOf(textOption(options, 'limit'))
  const query = queryOf(options)
  if (isCsv) return await printCsv(options, query, limit ?? Infinity)
  const pages: LedgerPage[] = []
  let left = limit ?? LIMIT
  for (let cursor: string | null | undefined; left > 0 && cursor !== null;) {
    const path = pathOf(query, Math.min(left, PAGE_MAX), cursor)
    const page = replyOf<typeof ledgerList>(await apiGet(options, path))
    pages.push(page)
    left -= page.data.length
    cursor = page.next_cursor
  }
  const [first] = pages
  const data = pages.flatMap((page) => page.data)
  const next = pages.at(-1)?.next_cursor ?? null
  if (options.json) return printJson({ ...first, data, has_more: next !== null, next_cursor: next })
  printTable(data)
  const sums = first?.sums
  if (sums)
    print(
      `${sums.entries} entries: in ${dollars(sums.in_pusd)}, out ${dollars(sums.out_pusd)} ${first.unit}, ${joules(sums.energy_nj)} J`,
    )
}

function printTable(entries: readonly Entry[]): void {
  print(
    table(
      ['WHEN', 'KIND', 'AMOUNT', 'JOULES', 'OF', 'ID'],
      entries.map((entry) => [
        entry.at,
        entry.kind,
        dollars(entry.amount_pusd),
        entry.energy_nj === null ? '' : joules(entry.energy_nj),
        entry.model ?? entry.operation ?? entry.reference ?? '',
        entry.id,
      ]),
    ),
  )
}

const joules = (text: string): string => printJoules(nj(BigInt(text)))

/** Page by page, with one head; each page is printed as it comes. */
async function printCsv(
  options: CommandCall['options'],
  query: URLSearchParams,
  limit: number,
): Promise<void> {
  let left = limit
  for (let cursor: string | undefined, isFirst = true; left > 0; isFirst = false) {
    const path = pathOf(query, Math.min(left, PAGE_MAX), cursor)
    const { text, headers } = await apiGet(options, path, { accept: 'text/csv' })
    const lines = text.split('\r\n').slice(isFirst ? 0 : 1, -1)
    for (const line of lines) print(line)
    left -= lines.length - (isFirst ? 1 : 0)
    const next = headers['x-next-cursor']
    if (typeof next !== 'string') return
    cursor = next
  }
}

function queryOf(options: CommandCall['options']): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, time] of Object.entries(spanOf(options, EXAMPLE))) query.set(name, time)
  for (const name of ['service', 'kind', 'id']) {
    const value = textOption(options, name)
    if (value !== undefined) query.set(name, value)
  }
  return query
}

function pathOf(query: URLSearchParams, limit: number, cursor: string | null | undefined): string {
  const asked = new URLSearchParams(query)
  asked.set('limit', String(limit))
  if (typeof cursor === 'string') asked.set('cursor', cursor)
  return `/v1/ledger?${asked.toString()}`
}

function limitOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new CommandError(`--limit is a whole number, not: ${text}`, EXIT.usage)
  return Number(text)
}
