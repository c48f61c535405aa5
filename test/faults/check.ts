// What must hold after any kill: every receipt id that a client was told is one charge of the ledger and
// one receipt that proves itself offline, the books add up, and no process is left over.
import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { parseReceiptKeys, type ReceiptKey } from '#tlog/keys.ts'
import { verifyReceipt } from '#tlog/verify.ts'
import { bookFaults } from '../books.ts'
import type { Ergon } from '../start-ergon.ts'
import { processesOf, stillThere } from './processes.ts'

const POSTED_MAX_MS = 15_000
const SEALED_MAX_MS = 45_000
const GONE_MAX_MS = 20_000
const POLL_MS = 50
const READERS = 8
const FAULTS_SHOWN_MAX = 10

/** Faults in words; empty when all is as it must be. */
export async function receiptFaults(
  ergon: Ergon,
  told: Iterable<string>,
  postedMaxMs = POSTED_MAX_MS,
): Promise<string[]> {
  const ids = [...told]
  const faults = await chargeFaults(ergon, ids, postedMaxMs)
  if (faults.length > 0) return faults
  const keys = parseReceiptKeys((await get(ergon, '/.well-known/ergon/receipt-keys.json')).text)
  const deadline = performance.now() + SEALED_MAX_MS
  const queue = [...ids]
  const reader = async () => {
    for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
      const fault = await receiptFault(ergon, id, keys, deadline)
      if (fault !== undefined) faults.push(fault)
      if (faults.length > FAULTS_SHOWN_MAX) return
    }
  }
  await Promise.all(Array.from({ length: READERS }, reader))
  return faults
}

/** Ids that the ledger has not exactly once, when it has had the time to take them. */
async function chargeFaults(
  ergon: Ergon,
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

async function receiptFault(
  ergon: Ergon,
  id: string,
  keys: readonly ReceiptKey[],
  deadline: number,
): Promise<string | undefined> {
  for (;;) {
    const { status, text } = await get(ergon, `/v1/receipts/${id}`)
    if (status === 200) {
      const { ok, checks, charge } = verifyReceipt(text, keys)
      if (!ok) return `${id} does not verify: ${checks.at(-1)?.detail ?? ''}`
      return charge?.id === id ? undefined : `${id} has the receipt of ${charge?.id ?? 'none'}`
    }
    if (performance.now() > deadline) return `${id} has no receipt: ${status} ${text.slice(0, 200)}`
    await pause(POLL_MS)
  }
}

/** What the books say, when what is in flight has been posted. */
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
    // A look at the whole machine is 20 ms of CPU: until the next one, these alone are looked at.
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

export type Answer = { readonly status: number; readonly text: string }

/** GETs as the account; a connection that fails is tried again, as after a restart. */
async function get(ergon: Ergon, path: string): Promise<Answer> {
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

function getOnce(ergon: Ergon, path: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${ergon.token}` }
    const sent = request(
      { host: '127.0.0.1', port: ergon.port, path, headers, timeout: 10_000 },
      (response) => {
        textOf(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject)
      },
    )
    sent.once('timeout', () => sent.destroy(new Error(`no answer: ${path}`)))
    sent.once('error', reject)
    sent.end()
  })
}
