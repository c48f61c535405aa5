// The requests of the storage bench: sizes, connections, and the ratios that the product promises.
import type { Wanted } from './storage-load.ts'

export const BUCKET = 'bench'
export const LISTED = 'listed'
export const KIB = 1024
export const MIB = 1024 * KIB
export const LISTED_KEYS = 20_000
export const KEYS_PER_FOLDER = 100
const PAGE = 1000

export type Cell = {
  readonly name: string
  readonly connections: number
  /** Of a warm-up and of a round, which has a multiple of them. */
  readonly requests: number
  /** The n-th request; `n` goes on over the rounds, so that a PUT never meets its own key. */
  readonly request: (n: number) => Wanted
  readonly bytesMin?: number
  /** Ratios that the product promises. */
  readonly bars?: Readonly<Record<string, number>>
  /** Written or read by one request. */
  readonly bytes?: number
}

const put = (bytes: number, connections: number, bars = {}): Cell => ({
  name: `PUT ${label(bytes)}`,
  connections,
  requests: written(bytes),
  request: (n) => ({ method: 'PUT', path: objectPath(bytes, n), bodyBytes: bytes }),
  bars,
  bytes,
})
/** Reads what the PUT of the same size wrote. */
const get = (bytes: number, count: number, connections: number, bars = {}): Cell => ({
  name: `GET ${label(bytes)}`,
  connections,
  requests: count,
  request: (n) => ({ method: 'GET', path: objectPath(bytes, n % written(bytes)) }),
  bytesMin: bytes,
  bars,
  bytes,
})
const list = (name: string, count: number, least: number, query: (n: number) => string): Cell => ({
  name,
  connections: 1,
  requests: count,
  request: (n) => ({ method: 'GET', path: `/${LISTED}`, query: query(n) }),
  bytesMin: 1000,
  bars: { versitygw: least },
})

const label = (bytes: number) => (bytes < MIB ? `${bytes / KIB} KiB` : `${bytes / MIB} MiB`)
const objectPath = (bytes: number, n: number) => `/${BUCKET}/${bytes}/${n}`
export const folderOf = (n: number) =>
  `d${String(Math.floor(n / KEYS_PER_FOLDER)).padStart(6, '0')}`
export const keyOf = (n: number) => `${folderOf(n)}/k${String(n).padStart(9, '0')}`
export const encoded = (key: string) => encodeURIComponent(key)

const PUTS = new Map([
  [4 * KIB, 1200],
  [MIB, 48],
  [64 * MIB, 4],
])
/** Objects of a size that the first round has written. */
const written = (bytes: number): number => PUTS.get(bytes) ?? 0

export const CELLS: readonly Cell[] = [
  put(4 * KIB, 16, { minio: 2 }),
  get(4 * KIB, 3000, 16, { versitygw: 0.85 }),
  put(MIB, 8, { versitygw: 0.8 }),
  get(MIB, 128, 8, { versitygw: 0.8 }),
  put(64 * MIB, 2, { minio: 1 }),
  get(64 * MIB, 6, 2, { versitygw: 1 }),
  list('LIST, pages of 1000 keys', 20, 4, (n) => {
    const from = (n * PAGE) % LISTED_KEYS
    const after = from === 0 ? '' : `&start-after=${encoded(keyOf(from - 1))}`
    return `list-type=2&max-keys=${PAGE}${after}`
  }),
  list('LIST, a prefix of 100 keys', 60, 2, (n) => {
    const prefix = `${folderOf(((n * 7) % (LISTED_KEYS / KEYS_PER_FOLDER)) * KEYS_PER_FOLDER)}/`
    return `list-type=2&prefix=${encoded(prefix)}`
  }),
  list('LIST, 200 common prefixes', 20, 0.8, () => 'list-type=2&delimiter=%2F'),
]
