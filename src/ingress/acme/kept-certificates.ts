// Ordered certificates on disk: the key of the account, and a file of each name with its certificate and key. Each is
// written whole or not at all, and is the ingress's alone.
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeDurably } from '#base/durable-file.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { fits, type Pair } from '#node/certificate-pair.ts'

export interface KeptCertificates {
  /** Makes the key at the first call. */
  accountKey(make: () => Promise<string>): Promise<string>
  /** By their names; a file that holds no certificate with its key is logged and left out. */
  all(): ReadonlyMap<string, Pair>
  write(host: string, pair: Pair): void
  remove(host: string): void
}

type KeptPair = Pair & { readonly host: string }

const FILE_MODE = 0o600
const FOLDER_MODE = 0o700
const PAIR = '.json'

export function keepCertificates(folder: string, log: Logger): KeptCertificates {
  mkdirSync(folder, { recursive: true, mode: FOLDER_MODE })
  const keyFile = join(folder, 'account.pem')
  const fileOf = (host: string) => join(folder, `${hashOf(host)}${PAIR}`)
  return {
    async accountKey(make) {
      const known = readOr(keyFile, undefined)
      if (known !== undefined) return known
      const made = await make()
      writeDurably(keyFile, made, FILE_MODE)
      return made
    },
    all() {
      const names = readdirSync(folder).filter((name) => name.endsWith(PAIR))
      const pairs = new Map<string, Pair>()
      for (const name of names)
        try {
          const { host, ...pair } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as KeptPair
          if (typeof host !== 'string') throw new TypeError('there is no name')
          if (!fits(pair)) throw new TypeError('the key is not that of the certificate')
          pairs.set(host, pair)
        } catch (error) {
          log.error('A kept certificate cannot be read', { name, error: messageOf(error) })
        }
      return pairs
    },
    write: (host, pair) =>
      writeDurably(fileOf(host), JSON.stringify({ host, ...pair } satisfies KeptPair), FILE_MODE),
    remove: (host) => rmSync(fileOf(host), { force: true }),
  }
}

/** A name of 253 characters does not fit into the name of a file with its ending. */
const hashOf = (host: string) => createHash('sha256').update(host).digest('hex')

function readOr<T>(path: string, otherwise: T): string | T {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return otherwise
    throw error
  }
}
