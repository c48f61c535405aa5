// GET /v1/account/export: every record of the account, a JSON object a line. Nothing is gathered: a page is read when
// its lines are wanted, whatever the number of records.
import { nj } from '#base/units.ts'
import { isDepleted } from '#charging/faults.ts'
import type { Records } from '#http/account-records.ts'
import type { AccountPart } from '#http/gateway-part.ts'
import type { OperationCall, Handler } from '#http/reply.ts'
import { callerOf } from '#identity/principal.ts'
import type { Posted } from '#ledger/posted.ts'
import type { Queryable } from '#state/connect.ts'

/** A line takes 20 µs of CPU, 70 µJ; the ceiling is for a busy machine. */
const LINE_NJ = 500_000n
const LEAST_NJ = 5_000_000_000n
const CHUNK_CHARS = 64 * 1024

type Deps = {
  readonly state: Queryable
  readonly posted: Posted
  readonly parts: () => readonly AccountPart[]
}

export const createAccountExport =
  ({ state, posted, parts }: Deps): Handler =>
  async (call) => {
    const account = callerOf(call).account
    await posted(call.signal)
    await admit(state, call)
    const kinds: Readonly<Record<string, Records>> = Object.assign(
      {},
      ...parts().map(({ records }) => records),
    )
    let lines = 0
    const counted = async function* () {
      for await (const line of linesOf(kinds, account, call.signal)) {
        lines++
        yield line
      }
    }
    return {
      kind: 'streamed',
      status: 200,
      contentType: 'application/x-ndjson',
      headers: { 'content-disposition': `attachment; filename="${account}.ndjson"` },
      chunks: inChunks(counted()),
      last: () => lineOf({ record: 'end', records: lines }),
      cut: ({ code, message }) => lineOf({ record: 'error', code, message }),
    }
  }

const lineOf = (record: object): string => `${JSON.stringify(record)}\n`

async function* linesOf(
  kinds: Readonly<Record<string, Records>>,
  account: string,
  signal: AbortSignal,
): AsyncGenerator<string> {
  for (const [kind, records] of Object.entries(kinds))
    for await (const record of records(account, signal)) yield lineOf({ record: kind, ...record })
}

/** A write to the socket for each line costs more than the line. */
async function* inChunks(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = ''
  for await (const line of lines) {
    chunk += line
    if (chunk.length < CHUNK_CHARS) continue
    yield chunk
    chunk = ''
  }
  if (chunk !== '') yield chunk
}

/** The ceiling follows the number of postings. An account that cannot pay is answered all the same. */
async function admit(state: Queryable, { caller, spend }: OperationCall): Promise<void> {
  if (caller === undefined) return
  const { rows } = await state.query<{ lines: string }>(
    'select (charge_count + event_count)::text as lines from accounts where id = $1',
    [caller.account],
  )
  const ceiling = nj(LEAST_NJ + BigInt(rows[0]?.lines ?? 0) * LINE_NJ)
  try {
    await spend.admit(caller, 'account.export', ceiling)
  } catch (error) {
    if (!isDepleted(error)) throw error
  }
}
