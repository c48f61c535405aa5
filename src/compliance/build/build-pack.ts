// Makes a pack: a zip file that is written into the blob store while the charges are read, in memory that does not grow
// with their number.
import { readFile } from 'node:fs/promises'
import type { NewBlob } from '#blobs/blob.ts'
import { balanceAt, readTransfers, TRANSFERS_MAX } from '#ledger/account-transfers.ts'
import { keysOf } from '#receipts/batch.ts'
import type { State } from '#state/connect.ts'
import { receiptKeysJson } from '#tlog/keys.ts'
import { createLedgerFile, type LedgerFile } from './ledger-file.ts'
import { packMethod } from './method.ts'
import { PackFault, type DuePack, type PackWork } from './pack-work.ts'
import { chargesIn, readPages } from './read-pages.ts'
import { receiptFile } from './receipt-files.ts'
import type { SettledPack } from './settled.ts'
import { signManifest } from './sign-manifest.ts'
import { summaryOf, summaryText } from './summary.ts'
import { createTotals, totalsCsv, type Totals } from './totals.ts'
import { openPackZip, type PackZip } from './zip.ts'

export type BuiltPack = { readonly blob: NewBlob; readonly manifestSha256: string }

export type BuildCall = {
  /** Charges the CPU since the call before. */
  readonly mark: () => void
  readonly progress: (done: number, total: number) => void
  readonly signal: AbortSignal
}

const PACK_BYTES_MAX = 1024 ** 4
/** The files that every pack has, as they are in the source. */
const STANDING_FILES: readonly (readonly [name: string, file: URL])[] = [
  ['README.txt', new URL('../in-pack/README.txt', import.meta.url)],
  ['verify.sh', new URL('../in-pack/verify.sh', import.meta.url)],
  ...[
    'verify.mjs',
    ...['files', 'log', 'csv', 'ledger', 'totals'].map((name) => `verify/${name}.mjs`),
  ].map((name) => [name, new URL(`../../tlog/evidence/${name}`, import.meta.url)] as const),
]

/** Throws PackFault, and the errors of the stores and the payer. */
export async function buildPack(
  work: PackWork,
  settled: SettledPack,
  call: BuildCall,
): Promise<BuiltPack> {
  const { stores, clock } = work
  const ending = new AbortController()
  const signal = AbortSignal.any([call.signal, ending.signal])
  const zip = openPackZip(new Date(clock.wallMs()), signal)
  const storing = stores.target.put(zip.bytes, { signal, sizeMax: PACK_BYTES_MAX })
  // Nobody reads the rest of a file that cannot be stored.
  storing.catch((error: unknown) => ending.abort(error))
  try {
    await writeContent(work, settled, zip, { ...call, signal })
    const manifest = zip.manifest()
    await zip.add('manifest.sha256', [manifest])
    const { sha256, receipt } = await signManifest(work, settled.pack, manifest, signal)
    await zip.add('manifest.tlog-proof', [receipt])
    zip.end()
    return { blob: await storing, manifestSha256: sha256 }
  } catch (error) {
    const cause = ending.signal.aborted ? ending.signal.reason : error
    zip.fail(cause as Error)
    await storing.catch(() => undefined)
    throw cause
  }
}

/** All files that the manifest has. */
export async function writeContent(
  work: Pick<PackWork, 'state' | 'receipts' | 'pageReceipts'>,
  { pack, range, batches }: SettledPack,
  zip: PackZip,
  call: BuildCall,
): Promise<void> {
  for (const [name, file] of STANDING_FILES) await zip.add(name, [await readFile(file)])
  const keys = receiptKeysJson(await keysOf(work.receipts))
  await zip.add('receipt-keys.json', [json(keys)])
  const pages = pagesOf(work, { pack, range }, call)
  const totals = createTotals()
  const ledger = await openLedger(work.state, pack)
  await zip.add('ledger.csv', ledgerLines(ledger, pages(), { pack, totals }))
  for await (const page of pages()) {
    const { name, text } = await receiptFile(page, batches)
    await zip.add(name, [text])
  }
  const env = await envOf(work.state, pack)
  const summary = summaryOf({ pack, env, totals, ledger: ledger.sums(), range })
  await zip.add('totals.csv', [totalsCsv(totals)])
  await zip.add('method.json', [json(packMethod(pack, totals))])
  await zip.add('summary.json', [json(summary)])
  await zip.add('summary.txt', [summaryText(summary)])
}

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`

/** The charges, page by page, as often as they are asked for. */
function pagesOf(
  work: Pick<PackWork, 'state' | 'pageReceipts'>,
  { pack, range }: Pick<SettledPack, 'pack' | 'range'>,
  { mark, progress, signal }: BuildCall,
): () => ReturnType<typeof readPages> {
  if (range === undefined) return async function* () {}
  const count = Number(range.last - range.first) + 1
  let done = 0
  return () =>
    readPages(work, pack.account, range, (read) => {
      signal.throwIfAborted()
      mark()
      progress((done += read), 2 * count)
    })
}

async function openLedger(state: State, pack: DuePack): Promise<LedgerFile> {
  const transfers = await readTransfers(state, pack)
  if (transfers.length > TRANSFERS_MAX)
    throw new PackFault(`It has more than ${TRANSFERS_MAX} payments: ask for a shorter time`)
  return createLedgerFile(pack.from, await balanceAt(state, pack.account, pack.from), transfers)
}

async function* ledgerLines(
  ledger: LedgerFile,
  pages: ReturnType<typeof readPages>,
  { pack, totals }: { readonly pack: DuePack; readonly totals: Totals },
): AsyncGenerator<string> {
  yield ledger.head
  for await (const page of pages) {
    const charges = [...chargesIn(page, pack)]
    for (const charge of charges) totals.add(charge)
    yield ledger.lines(charges)
  }
  yield ledger.rest()
}

async function envOf(state: State, { account }: DuePack): Promise<'live' | 'test'> {
  const { rows } = await state.query<{ env: 'live' | 'test' }>(
    'select env from accounts where id = $1',
    [account],
  )
  return rows[0]?.env ?? 'live'
}
