// The keys that check receipts: those of a file that the caller names, else those pinned here. The first check pins all
// keys and says so. Later a new log is pinned only when its first leaf names the end of a pinned log. A log of another
// key is pinned only when the pinned key or the caller names that key.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '#base/errors.ts'
import { fromBase64, type Checkpoint } from '#tlog/checkpoint.ts'
import { PartMissing, type LogReader } from '#tlog/history.ts'
import { parseReceiptKeys, receiptKeysJson, type ReceiptKey } from '#tlog/keys.ts'
import { vouchedKeys, type RefusedKey } from '#tlog/links.ts'
import { tilePath } from '#tlog/tiles.ts'
import type { TreeHead } from '#tlog/tree.ts'
import { apiGet, ApiRefusal } from './client.ts'
import { environment } from './environment.ts'
import { CommandError, EXIT, tell } from './output.ts'
import { baseUrlOf, knownBaseUrl, type GlobalOptions } from './profile.ts'

/** The signers as the service reports them, without a proof. */
export type Signers = { readonly count: number; readonly threshold: number; readonly hosts: number }
/** The pinned logs of a service, and the signers that the service names. */
type Service = { readonly origins: readonly string[]; readonly signers?: Signers }
export type PinnedKeys = {
  readonly keys: readonly ReceiptKey[]
  /** The key of the map is the address of the API: another service has logs and keys of its own. */
  readonly services: ReadonlyMap<string, Service>
  readonly heads: ReadonlyMap<string, TreeHead>
  readonly refused: readonly RefusedKey[]
}
/** `keysFile` is read in place of the pinned keys; `acceptNewKey` pins a log of another key too. */
export type PinOptions = { readonly keysFile: string | undefined; readonly acceptNewKey: boolean }

/** A list of keys that names no service: what a service publishes, or a file from before there were several. */
const UNNAMED = ''

/** Asks the service for logs not seen before; without one, what is pinned must do. */
export async function pinnedKeys(options: GlobalOptions, asked: PinOptions): Promise<PinnedKeys> {
  if (asked.keysFile !== undefined) return readGiven(asked.keysFile)
  const file = fileOf()
  const pinned = existsSync(file)
    ? read(file)
    : { keys: [], services: new Map(), heads: new Map(), refused: [] }
  const published = await apiGet(options, '/.well-known/ergon/receipt-keys.json', {
    public: true,
  }).catch(() => undefined)
  if (published === undefined) return pinned
  const { services, keys: offered } = parse(published.text)
  const address = baseUrlOf(options)
  const service = pinned.services.get(address) ?? pinned.services.get(UNNAMED)
  const own = pinned.keys.filter(({ origin }) => service?.origins.includes(origin))
  const { added, refused } =
    own.length === 0
      ? { added: offered, refused: [] }
      : await vouchedKeys(
          offered,
          { ...pinned, keys: own },
          { acceptNewKey: asked.acceptNewKey, read: logReader(options) },
        )
  const why = own.length === 0 ? 'at first use' : 'as it follows a pinned log'
  for (const { origin, publicKey } of added)
    tell(`pinned ${why} of ${address}: ${origin} ${publicKey.toString('hex')}`)
  const others = [...pinned.services].filter(([name]) => name !== address && name !== UNNAMED)
  const now = { ...services.get(UNNAMED), origins: [...own, ...added].map(({ origin }) => origin) }
  return save({
    keys: [...pinned.keys, ...added.filter((key) => !isIn(key, pinned.keys))],
    services: new Map([...others, [address, now]]),
    heads: pinned.heads,
    refused,
  })
}

const isIn = ({ origin }: ReceiptKey, keys: readonly ReceiptKey[]): boolean =>
  keys.some((known) => known.origin === origin)

/** True when the log belongs to the called service; false when no log of that service is known. */
export const isOfService = (
  { services }: PinnedKeys,
  options: GlobalOptions,
  origin: string,
): boolean => services.get(knownBaseUrl(options) ?? UNNAMED)?.origins.includes(origin) === true

/** The signers of a log, as its service reports them. */
export const signersOf = ({ services }: PinnedKeys, origin: string): Signers | undefined =>
  [...services.values()].find(({ origins }) => origins.includes(origin))?.signers

/** Keeps the newest tree head of a log, which goes on from the one before: what follows must not leave it out. */
export function keepHead(pinned: PinnedKeys, { origin, size, root }: Checkpoint): void {
  const seen = pinned.heads.get(origin)
  if (seen !== undefined && size <= seen.size) return
  save({ ...pinned, heads: new Map([...pinned.heads, [origin, { size, root }]]) })
}

/** Reads the public log at the service. */
export const logReader = (options: GlobalOptions): LogReader => {
  const get = (path: string) =>
    apiGet(options, `/.well-known/ergon/logs/${path}`, { accept: '*/*', public: true }).catch(
      (error: unknown) => {
        if (error instanceof ApiRefusal && error.status === 404)
          throw new PartMissing(error.message)
        throw error
      },
    )
  return {
    checkpoint: async (origin) => (await get(`${origin}/checkpoint`)).text,
    tile: async (origin, id) => (await get(`${origin}/${tilePath(id, id.width)}`)).bytes,
  }
}

/** The pinned keys as a page of keys; undefined before the first contact with a service. */
export const pinnedText = (): string | undefined =>
  existsSync(fileOf()) ? readFileSync(fileOf(), 'utf8') : undefined

const fileOf = () => join(environment().configFolder, 'receipt-keys.json')

function save(pinned: PinnedKeys): PinnedKeys {
  mkdirSync(environment().configFolder, { recursive: true, mode: 0o700 })
  const heads = [...pinned.heads].map(([origin, { size, root }]) => ({
    origin,
    size,
    root: root.toString('base64'),
  }))
  const services = Object.fromEntries(pinned.services)
  const page = { ...receiptKeysJson(pinned.keys), services, heads }
  writeFileSync(fileOf(), `${JSON.stringify(page, null, 2)}\n`, { mode: 0o600 })
  return pinned
}

const read = (file: string): PinnedKeys => parse(readFileSync(file, 'utf8'))

/** Reads the file of --keys. */
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

type SavedHead = { readonly origin: string; readonly size: number; readonly root: string }
type Saved = {
  readonly signers?: Signers
  readonly services?: Readonly<Record<string, Service>>
  readonly heads?: readonly SavedHead[]
}

function parse(text: string): PinnedKeys {
  const keys = parseReceiptKeys(text)
  const { signers, services, heads = [] } = JSON.parse(text) as Saved
  const label = signers === undefined ? {} : { signers }
  const unnamed = { origins: keys.map(({ origin }) => origin), ...label }
  return {
    keys,
    services: new Map(Object.entries(services ?? { [UNNAMED]: unnamed })),
    heads: new Map(
      heads.map(({ origin, size, root }) => [origin, { size, root: fromBase64(root) }]),
    ),
    refused: [],
  }
}
