// Fetches a receipt with what it is checked against, and has the worker check it.
import { call, send } from '#console/client/call.ts'
import type { ReplyOf } from '#console/client/operations.ts'
import { keepHead, pinKeys, pinnedKeys, seenHeads } from './pins.ts'
import type { Asked, Verdict } from './verdict.ts'

const WORKER_MS = 10_000

export type Signers = ReplyOf<'GET /.well-known/ergon/receipt-keys.json'>['signers']
/** Undefined where the service did not say what the account's charge before was. */
export type Before = { readonly accountSeq: string } | 'first' | undefined
export type LedgerCharge = ReplyOf<'GET /v1/ledger'>['data'][number]
export type Checked = {
  readonly text: string
  readonly verdict: Verdict
  readonly signers: Signers
  readonly before: Before
  readonly id: string
  /** The rows of charges that the ledger has of the id: one, or none of a charge without a price. */
  readonly rows: readonly LedgerCharge[]
}

/** Undefined while the charge is not signed yet. Throws Problem. */
export async function checkReceipt(id: string, signal: AbortSignal): Promise<Checked | undefined> {
  const path = { receipt: id }
  const [answer, published] = await Promise.all([
    send('GET /v1/receipts/:receipt', { path, signal }, { accept: 'text/plain' }),
    call('GET /.well-known/ergon/receipt-keys.json', { signal }),
  ])
  if (answer.status === 202) return undefined
  const text = await answer.text()
  const verdict = await inWorker({
    id,
    receipt: text,
    pinned: JSON.stringify(pinnedKeys(localStorage)),
    published: JSON.stringify(published),
    heads: seenHeads(localStorage),
  })
  pinKeys(published, verdict.pinned, localStorage)
  if (verdict.isSound && verdict.head !== undefined) keepHead(verdict.head, localStorage)
  const [before, rows] = await Promise.all([chargeBefore(verdict, signal), rowsOf(id, signal)])
  return { text, verdict, signers: published.signers, before, id, rows }
}

/** By the id that was asked for, and not by the id that the receipt says. */
async function rowsOf(id: string, signal: AbortSignal): Promise<readonly LedgerCharge[]> {
  const { data } = await call('GET /v1/ledger', { query: { id }, signal })
  return data.filter(({ kind }) => kind === 'charge')
}

/** The account's own numbers have no gap: that before this one must be there. */
async function chargeBefore({ accountSeq }: Verdict, signal: AbortSignal): Promise<Before> {
  if (accountSeq === undefined) return undefined
  if (accountSeq === '1') return 'first'
  const { data } = await call('GET /v1/receipts', {
    query: { limit: '1', cursor: accountSeq },
    signal,
  })
  return data[0] === undefined ? undefined : { accountSeq: data[0].account_seq }
}

function inWorker(asked: Asked): Promise<Verdict> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' })
  return new Promise<Verdict>((resolve, reject) => {
    const timer = setTimeout(() => reject(new TypeError('The check took too long')), WORKER_MS)
    worker.addEventListener('message', ({ data }: MessageEvent<Verdict>) => resolve(data))
    worker.addEventListener('error', ({ message }) => reject(new TypeError(message)))
    worker.addEventListener('message', () => clearTimeout(timer))
    worker.postMessage(asked)
  }).finally(() => worker.terminate())
}
