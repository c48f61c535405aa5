// The gateway's own program (src/processes/gateway.ts) on a test's state and folders: no agent, no launcher, so that
// the test can trace its system calls, kill it at any of them and start it again.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { newEncryptionKey } from '#base/encryption.ts'
import type { GatewayConfig } from '#processes/gateway-config.ts'
import { GATEWAY_PROGRAM } from '#processes/gateways.ts'
import { SIGNERS_HERE } from '#receipts/sealing.ts'
import type { StateAddress } from '#state/connect.ts'
import { programAlone } from '../ergon-cache.ts'

const START_MAX_MS = 90_000
const STOP_MAX_MS = 30_000
const MIB = 1024 * 1024
const STATE_KEY = newEncryptionKey()

export type GatewayPlace = {
  readonly state: StateAddress
  /** Blobs and journal are below it. */
  readonly folder: string
  /** Where its socket is: a short path that outlives the folder's disk. */
  readonly runFolder: string
  readonly meter: string
  readonly journalSync?: boolean
  /** Node's own number when absent. strace counts calls by thread: with one the n-th call is the n-th. */
  readonly fileThreads?: number
  /** Modules of planted/ that its process loads first: bugs that the harness must find. */
  readonly planted?: readonly string[]
}

export type GatewayOptions = Pick<GatewayPlace, 'journalSync' | 'fileThreads' | 'planted'>

export type GatewayAlone = {
  readonly pid: number
  readonly port: number
  stderr(): string
  /** Resolves when the process is gone. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  /** Undefined while it runs. */
  readonly end: () => { code: number | null; signal: NodeJS.Signals | null } | undefined
  kill(): Promise<void>
  /** SIGTERM, as the agent stops it. */
  stop(): Promise<void>
}

export const blobsOf = (folder: string) => join(folder, 'blobs')
const blobSettings = (folder: string) => ({
  folder: blobsOf(folder),
  target: 'fs',
  locations: ['fs'],
  s3: {},
})
export const journalOf = (folder: string) => join(folder, 'journal')

/** Starts it; resolves when it answers, rejects with what it wrote when it ends first. */
export async function startGatewayAlone(place: GatewayPlace): Promise<GatewayAlone> {
  const planted = (place.planted ?? []).flatMap((name) => ['--import', plantedPath(name)])
  const { argv, env } = await programAlone(GATEWAY_PROGRAM, planted)
  const child = spawn(process.execPath, argv, {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    env: {
      NODE_ENV: 'production',
      HOME: '/',
      ...env,
      ...(place.fileThreads !== undefined && { UV_THREADPOOL_SIZE: String(place.fileThreads) }),
    },
  })
  let errors = ''
  let end: Awaited<GatewayAlone['ended']> | undefined
  const ended = once(child, 'close').then(([code, signal]) => {
    end = { code, signal }
    return end
  })
  configure(child, place)
  const late = setTimeout(() => child.kill('SIGKILL'), START_MAX_MS)
  const port = await new Promise<number>((resolve, reject) => {
    if (child.stderr === null) throw new TypeError('the child has no stderr')
    createInterface({ input: child.stderr }).on('line', (line) => {
      errors = `${errors}${line}\n`.slice(-20_000)
      const found = /"Gateway answers".*"port":(\d+)/.exec(line)
      if (found !== null) resolve(Number(found[1]))
    })
    void ended.then(() => reject(new Error(`The gateway ended before it answered:\n${errors}`)))
  }).finally(() => clearTimeout(late))
  return {
    pid: child.pid ?? 0,
    port,
    stderr: () => errors,
    ended,
    end: () => end,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    async stop() {
      child.kill('SIGTERM')
      const hangs = setTimeout(() => child.kill('SIGKILL'), STOP_MAX_MS)
      await ended
      clearTimeout(hangs)
    },
  }
}

const plantedPath = (name: string) => join(import.meta.dirname, 'planted', `${name}.ts`)

function configure(child: ChildProcess, place: GatewayPlace): void {
  const config: GatewayConfig = {
    others: [],
    name: 'gw-1',
    state: place.state,
    journalFolder: journalOf(place.folder),
    journalSync: place.journalSync ?? false,
    meter: place.meter,
    listen: { host: '127.0.0.1', port: 0, shared: false },
    hosts: ['127.0.0.1'],
    trustedProxies: [],
    drainMs: 1000,
    bodyMemoryBytes: 256 * MIB,
    accountRequests: 100,
    accountRate: 60_000,
    socket: join(place.runFolder, 'http.sock'),
    logLevel: 'info',
    stateKey: STATE_KEY,
    products: {
      accounts: { signers: SIGNERS_HERE, deletionDays: 7 },
      status: { meter: place.meter, countsMs: 60_000 },
      payments: {
        cards: [],
        stablecoins: [],
        topUpUrl: 'http://localhost/v1/topups',
        topUpApi: 'http://localhost/v1/topups',
      },
      portal: {},
      ingress: { ownHosts: [] },
      webhooks: { isOn: false, networks: [] },
      compliance: { blobs: blobSettings(place.folder), keptDays: 90 },
      storage: {
        blobs: blobSettings(place.folder),
        address: 'http://localhost',
        storage: {
          region: 'local',
          bucketsMax: 1000,
          acls: false,
          encrypts: false,
          keyIds: [],
          website: { hosts: [], protocol: 'http' },
        },
      },
    },
  }
  const pipe = child.stdio[3] as NodeJS.WritableStream
  pipe.on('error', () => undefined)
  pipe.write(`${JSON.stringify(config)}\n`)
}
