// Invariants after any kill: every receipt id that a client got is one charge of the ledger and one receipt that
// proves itself offline, the books add up, and no process is left over.
import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { buffer as bytesOf } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { parseCheckpoint, parseNote, type Checkpoint } from '#tlog/checkpoint.ts'
import { historyFault, type LogReader } from '#tlog/history.ts'
import { parseReceiptKeys, type ReceiptKey } from '#tlog/keys.ts'
import { isNewKey } from '#tlog/links.ts'
import { parseReceipt } from '#tlog/proof.ts'
import { tilePath } from '#tlog/tiles.ts'
import type { TreeHead } from '#tlog/tree.ts'
import { verifyReceipt } from '#tlog/verify.ts'
import { bookFaults } from '../books.ts'
import type { Ergon } from '../start-ergon.ts'
import { processesOf, stillThere } from './processes.ts'

const POSTED_MAX_MS = 60_000
const SEALED_MAX_MS = 60_000
const GONE_MAX_MS = 60_000
const POLL_MS = 50
const READERS = 8
const FAULTS_SHOWN_MAX = 10

/** A client's memory between two checks: keys by the log's name, and the newest head of each log. */
export type Pins = { readonly keys: Map<string, ReceiptKey>; readonly heads: Map<string, TreeHead> }
export const noPins = (): Pins => ({ keys: new Map(), heads: new Map() })

type Asked = { readonly pins?: Pins; readonly postedMaxMs?: number }
type Asking = { readonly ergon: Asks; readonly pins: Pins; readonly deadline: number }
/** The product's address, token and SQL. */
export type Asks = Pick<Ergon, 'port' | 'token' | 'sql'>

/** Faults in words; empty when all is as it must be. Kills change neither the key nor the history of `pins`. */
export async function receiptFaults(
  ergon: Asks,
  told: Iterable<string>,
  { pins = noPins(), postedMaxMs = POSTED_MAX_MS }: Asked = {},
): Promise<string[]> {
  const ids = [...told]
  if (ids.length === 0) return ['no client was told of a receipt']
  const faults = await chargeFaults(ergon, ids, postedMaxMs)
  if (faults.length > 0) return faults
  const asking = { ergon, pins, deadline: performance.now() + SEALED_MAX_MS }
  const queue = [...ids]
  const reader = async () => {
    for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
      const fault = await receiptFault(id, asking)
      if (fault !== undefined) faults.push(fault)
      if (faults.length > FAULTS_SHOWN_MAX) return
    }
  }
  await Promise.all(Array.from({ length: READERS }, reader))
  return faults
}

/** Ids that the ledger has not exactly once, when it has had the time to take them. */
async function chargeFaults(
  ergon: Asks,
  ids: readonly string[],
  postedMaxMs: number,
): Promise<string[]> {
  const deadline = performance.now() + postedMaxMs
  for (;;) {
    const rows = await ergon.sql<{ id: string; times: string }>(
      `select told.id, count(c.id)::text as times
       from unnest($1::text[]) as told (id) left join charges c on c.id = told.id collate "C"
       group by told.id having count(c.id) <> 1`,
      [ids],
    )
    if (rows.length === 0) return []
    if (performance.now() > deadline)
      return rows.map(({ id, times }) => `${id} was told to a client and is charged ${times} times`)
    await pause(POLL_MS)
  }
}

async function receiptFault(id: string, asking: Asking): Promise<string | undefined> {
  const { ergon, pins, deadline } = asking
  for (;;) {
    const { status, text } = await get(ergon, `/v1/receipts/${id}`)
    if (status === 200) {
      const fault = await pinKeys(text, asking)
      if (fault !== undefined) return `${id}: ${fault}`
      const { ok, checks, charge, checkpoint } = verifyReceipt(text, [...pins.keys.values()])
      if (!ok || checkpoint === undefined)
        return `${id} does not verify: ${checks.at(-1)?.detail ?? ''}`
      if (charge?.id !== id) return `${id} has the receipt of ${charge?.id ?? 'none'}`
      return await headFault(checkpoint, asking)
    }
    if (performance.now() > deadline) return `${id} has no receipt: ${status} ${text.slice(0, 200)}`
    await pause(POLL_MS)
  }
}

/** Reads the page for a log that is not pinned: before its first receipt the page need not have it. */
async function pinKeys(receipt: string, { ergon, pins }: Asking): Promise<string | undefined> {
  const { origin } = parseCheckpoint(parseNote(parseReceipt(receipt).checkpoint).body)
  if (pins.keys.has(origin)) return undefined
  const page = await get(ergon, '/.well-known/ergon/receipt-keys.json')
  const pinned = [...pins.keys.values()]
  for (const key of parseReceiptKeys(page.text)) {
    if (pinned.length > 0 && isNewKey(key, pinned))
      return `another key signs than before: ${key.origin}`
    pins.keys.set(key.origin, key)
  }
  return undefined
}

/** A fault when a head is not of one history with the last head seen. */
async function headFault(head: Checkpoint, { ergon, pins }: Asking): Promise<string | undefined> {
  const seen = pins.heads.get(head.origin)
  const fault = seen && (await historyFault(seen, head, { tile: tileOf(ergon) }))
  const newest = pins.heads.get(head.origin)
  if (fault === undefined && (newest === undefined || newest.size < head.size))
    pins.heads.set(head.origin, head)
  return fault
}

const tileOf =
  (ergon: Asks): LogReader['tile'] =>
  async (origin, id) => {
    const path = `/.well-known/ergon/logs/${origin}/${tilePath(id, id.width)}`
    return (await get(ergon, path)).bytes
  }

/** Faults of the books, once all work in flight has been posted. */
export async function ledgerFaults(ergon: Ergon): Promise<string[]> {
  const dead = await ergon.sql(
    `select l.session from leases l join sessions s on s.id = l.session where s.closed_at is not null`,
  )
  return [
    ...(await bookFaults(ergon)),
    ...dead.map((row) => `a lease of a dead session is left: ${JSON.stringify(row)}`),
  ]
}

/** Processes that are there although the agent is gone. */
export async function orphans(ergon: Pick<Ergon, 'dataFolder' | 'runFolder'>): Promise<string[]> {
  const marks = marksOf(ergon)
  const deadline = performance.now() + GONE_MAX_MS
  for (;;) {
    const found = processesOf(marks)
    if (found.length === 0 || performance.now() > deadline) return found
    // A scan of the whole machine takes 20 ms of CPU: until the next scan only these processes are checked.
    for (let left = found; left.length > 0 && performance.now() < deadline; await pause(POLL_MS))
      left = stillThere(left, marks)
  }
}

/** The two folders, and the control group that the cells are in. */
export function marksOf({ dataFolder, runFolder }: Pick<Ergon, 'dataFolder' | 'runFolder'>) {
  const cells = join(realpathSync(dataFolder), 'cells')
  const group = createHash('sha256').update(cells).digest('hex').slice(0, 12)
  return [dataFolder, runFolder, `ergon-${group}`]
}

export type Answer = { readonly status: number; readonly text: string; readonly bytes: Buffer }

/** GETs as the account; a connection that fails is tried again, as after a restart. */
async function get(ergon: Asks, path: string): Promise<Answer> {
  const deadline = performance.now() + POSTED_MAX_MS
  for (;;) {
    try {
      return await getOnce(ergon, path)
    } catch (error) {
      if (performance.now() > deadline) throw error
      await pause(POLL_MS)
    }
  }
}

function getOnce(ergon: Asks, path: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${ergon.token}` }
    const sent = request(
      { host: '127.0.0.1', port: ergon.port, path, headers, timeout: 10_000 },
      (response) => {
        const { statusCode: status = 0 } = response
        bytesOf(response).then(
          (bytes) => resolve({ status, bytes, text: bytes.toString() }),
          reject,
        )
      },
    )
    sent.once('timeout', () => sent.destroy(new Error(`no answer: ${path}`)))
    sent.once('error', reject)
    sent.end()
  })
}
