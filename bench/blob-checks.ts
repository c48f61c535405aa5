// The cost of the checksum of a blob for a GET: this process reads the same file with and without the comparison, by
// turns. The difference is divided by the CPU of a whole product for a GET of that size.
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { giveBack } from '#base/buffer-pool.ts'
import { systemClock } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import type { BlobStore, ByteRange, NewBlob } from '#blobs/blob.ts'
import { createFsStore } from '#blobs/fs-store.ts'
import { treeCpuUs } from './processes.ts'
import { atRest, startProduct } from './product.ts'
import type { Section } from './report.ts'

const KIB = 1024
const MIB = 1024 * KIB
const ROUNDS = 15
const SHARE_MAX = 0.05

type Cell = {
  readonly name: string
  readonly size: number
  readonly range?: ByteRange
  readonly gets: number
}
const CELLS: readonly Cell[] = [
  { name: '64 KiB', size: 64 * KIB, gets: 400 },
  { name: '1 MiB', size: MIB, gets: 100 },
  { name: '64 MiB', size: 64 * MIB, gets: 6 },
  {
    name: '8 MiB of 64 MiB',
    size: 64 * MIB,
    range: { first: 8 * MIB, last: 16 * MIB - 1 },
    gets: 30,
  },
  {
    name: '4 KiB of 64 MiB',
    size: 64 * MIB,
    range: { first: 30_000_000, last: 30_004_095 },
    gets: 400,
  },
]
const { signal } = new AbortController()

export async function runBlobChecks(): Promise<Section> {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-bench-'))
  const ergon = await startProduct()
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  try {
    const log = createLogger('bench')
    const store = await createFsStore({ folder, location: 'fs', log, clock: systemClock })
    const ask = asker(ergon, agent)
    await ask('PUT', '/checks')
    const figures = []
    for (const cell of CELLS) {
      const { size, gets, range } = cell
      const bytes = Buffer.alloc(size, 7)
      await ask('PUT', '/checks/object', bytes)
      const headers = range === undefined ? {} : { range: `bytes=${range.first}-${range.last}` }
      for (let n = 0; n < gets; n++) await ask('GET', '/checks/object', undefined, headers)
      await atRest(ergon.pid)
      const before = treeCpuUs(ergon.pid)
      for (let n = 0; n < gets; n++) await ask('GET', '/checks/object', undefined, headers)
      await atRest(ergon.pid)
      const getUs = (treeCpuUs(ergon.pid) - before) / gets
      figures.push({ cell, getUs, checkUs: await checkUs(store, bytes, cell) })
    }
    return sectionOf(figures)
  } finally {
    agent.destroy()
    await ergon.stop()
    rmSync(folder, { recursive: true })
  }
}

/** CPU that a read takes more with the checksum compared: of rounds by turns the least of each, as neighbours only add. */
async function checkUs(store: BlobStore, bytes: Buffer, { range, gets }: Cell): Promise<number> {
  const put = (body: Buffer) => store.put(Readable.from([body]), { signal, sizeMax: body.length })
  const blob = await put(bytes)
  // A part of a blob with one sum of the whole cannot be checked.
  const longer = await put(Buffer.concat([bytes, Buffer.alloc(1)]))
  const unchecked = { ...longer, checksum: 'crc32:00000000' }
  const all = { first: 0, last: bytes.length - 1 }
  const without: number[] = []
  const checked: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    without.push(await readUs(store, unchecked, { range: range ?? all, gets }))
    checked.push(await readUs(store, blob, { ...(range && { range }), gets }))
  }
  for (const { id } of [blob, longer]) await store.delete({ id }, signal)
  return Math.min(...checked) - Math.min(...without)
}

async function readUs(
  store: BlobStore,
  blob: NewBlob,
  { range, gets }: { range?: ByteRange; gets: number },
): Promise<number> {
  const before = process.cpuUsage()
  for (let n = 0; n < gets; n++)
    for await (const chunk of await store.get(blob, { signal, ...(range && { range }) }))
      giveBack(chunk)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / gets
}

type Asked = (method: string, path: string, body?: Buffer, headers?: object) => Promise<void>

const asker =
  ({ port, token }: { port: number; token: string }, agent: Agent): Asked =>
  (method, path, body, headers = {}) =>
    new Promise((resolve, reject) => {
      const authorization = `Bearer ${token}`
      const asked = { agent, port, method, path, headers: { authorization, ...headers } }
      const sent = request(asked, (response) => {
        response.on('error', reject).on('end', resolve).resume()
        if (response.statusCode !== 200 && response.statusCode !== 206)
          reject(new TypeError(`${method} ${path}: ${response.statusCode}`))
      })
      sent.on('error', reject).end(body)
    })

type Figure = { readonly cell: Cell; readonly getUs: number; readonly checkUs: number }

function sectionOf(figures: readonly Figure[]): Section {
  const share = ({ getUs, checkUs: us }: Figure) => us / getUs
  return {
    name: 'blob checks',
    title: 'Checksums of blobs that are read',
    bars: figures.map((figure) => ({
      what: `GET ${figure.cell.name}: share of its CPU that compares checksums`,
      value: share(figure),
      most: SHARE_MAX,
      digits: 3,
    })),
    tables: [
      {
        caption: 'CPU of a GET, one connection',
        columns: ['GET', 'all processes, µs', 'of that the checksum, µs', 'share'],
        rows: figures.map((figure) => [
          figure.cell.name,
          figure.getUs.toFixed(0),
          figure.checkUs.toFixed(0),
          `${(100 * share(figure)).toFixed(1)} %`,
        ]),
      },
    ],
    notes: [
      'Bodies up to 32 KiB are in the row of their object, whose page has a checksum of PostgreSQL; their GET compares nothing.',
    ],
  }
}
