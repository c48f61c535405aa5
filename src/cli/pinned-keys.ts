// The keys that receipts are checked by: a file that the caller names, else those pinned here. A log
// that was not seen before is pinned at first use, and said so; a known log's key never changes.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '#base/errors.ts'
import { parseReceiptKeys, receiptKeysJson, type ReceiptKey } from '#tlog/keys.ts'
import { apiGet } from './client.ts'
import { environment } from './environment.ts'
import { CommandError, EXIT, tell } from './output.ts'
import type { GlobalOptions } from './profile.ts'

/** Who signs, as the service says of itself: it is told, not proved. */
export type Signers = { readonly count: number; readonly threshold: number; readonly hosts: number }
export type PinnedKeys = { readonly keys: readonly ReceiptKey[]; readonly signers?: Signers }

/** Asks the service for logs not seen before; without one, what is pinned must do. */
export async function pinnedKeys(
  options: GlobalOptions,
  keysFile: string | undefined,
): Promise<PinnedKeys> {
  if (keysFile !== undefined) return readGiven(keysFile)
  const file = join(environment().configFolder, 'receipt-keys.json')
  const pinned = existsSync(file) ? read(file) : { keys: [] }
  const published = await apiGet(options, '/.well-known/ergon/receipt-keys.json', {
    public: true,
  }).catch(() => undefined)
  if (published === undefined) return pinned
  const offered = parse(published.text)
  const fresh = offered.keys.filter(
    (key) => !pinned.keys.some((known) => known.origin === key.origin),
  )
  for (const key of fresh)
    tell(`pinned at first use: ${key.origin} ${key.publicKey.toString('hex')}`)
  const all = { ...offered, keys: [...pinned.keys, ...fresh] }
  mkdirSync(environment().configFolder, { recursive: true, mode: 0o700 })
  const page = { ...receiptKeysJson(all.keys), signers: all.signers }
  writeFileSync(file, `${JSON.stringify(page, null, 2)}\n`, { mode: 0o600 })
  return all
}

const read = (file: string): PinnedKeys => parse(readFileSync(file, 'utf8'))

/** What the caller names as --keys. */
function readGiven(file: string): PinnedKeys {
  try {
    return read(file)
  } catch (error) {
    throw new CommandError(
      `--keys ${file}: ${messageOf(error)}`,
      EXIT.failed,
      'a copy of /.well-known/ergon/receipt-keys.json, as JSON',
    )
  }
}

function parse(text: string): PinnedKeys {
  const keys = parseReceiptKeys(text)
  const { signers } = JSON.parse(text) as { signers?: Signers }
  return { keys, ...(signers === undefined ? {} : { signers }) }
}
