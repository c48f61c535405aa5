// What the storage bench compares: S3 servers on a port of 127.0.0.1 with a folder of their own, all in
// the same file system. The peers are installed outside the tree at first use; one that cannot be is left
// out, and the page says so.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { descendants, pssMib, treeCpuUs } from './processes.ts'
import { atRest, startProduct } from './product.ts'
import { PEERS, answering, freePort, installPeers } from './targets.ts'
import type { Ergon } from '../test/start-ergon.ts'
import type { Keys } from './storage-load.ts'

export type StorageTarget = {
  readonly name: string
  readonly port: number
  readonly keys: Keys
  /** CPU of all of its processes, in microseconds. */
  cpuUs(): number
  /** Memory of all of its processes. */
  mib(): number
  /** Resolves when nothing of what it was asked is still being worked on. */
  quiet(): Promise<void>
  close(): Promise<void>
}

const KEYS: Keys = { id: 'bench', secret: 'benchsecret' }
const GO_BIN = join(import.meta.dirname, '../.cache/bench-go')
const VERSITYGW = 'github.com/versity/versitygw/cmd/versitygw@v1.8.0'
// The last commit of the archived repository.
const MINIO = 'github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c'
export const ERGON = 'Ergon'

const treeMib = (pid: number): number =>
  descendants(pid).reduce((sum, one) => sum + (pssMib(one.pid) ?? 0), 0)

/** The product; the account cannot run out of money. */
export async function startErgonStorage(): Promise<StorageTarget & { readonly ergon: Ergon }> {
  const ergon = await startProduct({ ERGON_ACCOUNT_REQUESTS: '2000' })
  await ergon.control('POST', `/accounts/${ergon.account}/funds`, { pusd: '1000000000000000' })
  return {
    ergon,
    name: ERGON,
    port: ergon.port,
    keys: { id: ergon.token, secret: ergon.token },
    cpuUs: () => treeCpuUs(ergon.pid),
    mib: () => treeMib(ergon.pid),
    quiet: () => atRest(ergon.pid),
    close: () => ergon.stop(),
  }
}

/** Those that can be installed here, and the names of the others. */
export async function startPeers(): Promise<{ peers: StorageTarget[]; missing: string[] }> {
  const peers: StorageTarget[] = []
  const missing: string[] = []
  for (const [name, start] of Object.entries(STARTS)) {
    try {
      peers.push(await start(name))
    } catch (error) {
      process.stderr.write(`bench: ${name} is left out: ${String(error)}\n`)
      missing.push(name)
    }
  }
  return { peers, missing }
}

const STARTS: Readonly<Record<string, (name: string) => Promise<StorageTarget>>> = {
  minio: (name) =>
    startPeer(name, (folder, port) => ({
      command: goProgram('minio', MINIO),
      args: ['server', '--quiet', '--address', `127.0.0.1:${port}`, folder],
      env: {
        MINIO_ROOT_USER: KEYS.id,
        MINIO_ROOT_PASSWORD: KEYS.secret,
        MINIO_BROWSER: 'off',
        MINIO_UPDATE: 'off',
      },
    })),
  versitygw: (name) =>
    startPeer(name, (folder, port) => ({
      command: goProgram('versitygw', VERSITYGW),
      args: ['--port', `127.0.0.1:${port}`, '--quiet', '--keep-alive', 'posix', folder],
      env: { ROOT_ACCESS_KEY: KEYS.id, ROOT_SECRET_KEY: KEYS.secret },
    })),
  s3rver: (name) =>
    startPeer(name, (folder, port) => {
      const script = join(PEERS, 'node_modules/s3rver/bin/s3rver.js')
      if (!existsSync(script)) installPeers()
      // It hashes tokens of lists with MD4.
      const flags = ['--openssl-legacy-provider', '--no-deprecation', script]
      const args = ['-d', folder, '-a', '127.0.0.1', '-p', `${port}`, '--no-vhost-buckets']
      return {
        command: process.execPath,
        args: [...flags, ...args, '--silent'],
        env: {},
        keys: { id: 'S3RVER', secret: 'S3RVER' },
      }
    }),
}

type Peer = {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly keys?: Keys
}

async function startPeer(
  name: string,
  peerOf: (folder: string, port: number) => Peer,
): Promise<StorageTarget> {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), `ergon-bench-${name}-`))
  const { command, args, env, keys = KEYS } = peerOf(folder, port)
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(command, args, { stdio: 'ignore', env: { PATH, HOME, ...env } })
  await answering(port, child)
  const pid = child.pid ?? 0
  return {
    name,
    port,
    keys,
    cpuUs: () => treeCpuUs(pid),
    mib: () => treeMib(pid),
    quiet: async () => undefined,
    async close() {
      child.kill('SIGKILL')
      await once(child, 'exit')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A Go program, built at first use by the Go that there is, through the proxy that it is set to. */
function goProgram(name: string, version: string): string {
  const path = join(GO_BIN, name)
  if (existsSync(path)) return path
  mkdirSync(GO_BIN, { recursive: true })
  process.stderr.write(`bench: building ${version} …\n`)
  const env = { ...process.env, GOBIN: GO_BIN }
  execFileSync('go', ['install', version], { env, stdio: ['ignore', 2, 2] })
  return path
}
