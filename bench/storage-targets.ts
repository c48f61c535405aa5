// Targets of the storage bench: S3 servers on a port of 127.0.0.1 with a folder of their own, all in the same file
// system. The peers are installed outside the tree at first use. A peer that cannot be installed is left out, and the
// page says so.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { descendants, pssMib, treeCpuUs } from './processes.ts'
import { atRest, startProduct } from './product.ts'
import { PEERS, installPeers } from './targets.ts'
import { GO_PEERS, startS3Peer, type S3Program } from '../test/s3-peers.ts'
import type { Ergon } from '../test/start-ergon.ts'
import type { Keys } from './storage-load.ts'

export type StorageTarget = {
  readonly name: string
  readonly port: number
  readonly keys: Keys
  /** CPU of all of its processes, in microseconds. */
  cpuUs(): number
  /** The number of its processes. */
  processes(): number
  /** Memory of all of its processes. */
  mib(): number
  /** Resolves when nothing of what it was asked is still being worked on. */
  quiet(): Promise<void>
  close(): Promise<void>
}

export const ERGON = 'Ergon'

const treeMib = (pid: number): number =>
  descendants(pid).reduce((sum, one) => sum + (pssMib(one.pid) ?? 0), 0)

/** The product; the account cannot run out of money. */
export async function startErgonStorage(): Promise<StorageTarget & { readonly ergon: Ergon }> {
  const ergon = await startProduct({ ERGON_ACCOUNT_REQUESTS: '2000' })
  await ergon.control('funds.add', { account: ergon.account, pusd: '1000000000000000' })
  return {
    ergon,
    name: ERGON,
    port: ergon.port,
    keys: { id: ergon.token, secret: ergon.token },
    cpuUs: () => treeCpuUs(ergon.pid),
    processes: () => descendants(ergon.pid).length,
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
      peers.push(await startPeer(name, start))
    } catch (error) {
      process.stderr.write(`bench: ${name} is left out: ${String(error)}\n`)
      missing.push(name)
    }
  }
  return { peers, missing }
}

const STARTS: Readonly<Record<string, (folder: string, port: number) => S3Program>> = {
  ...GO_PEERS,
  s3rver(folder, port) {
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
  },
}

async function startPeer(
  name: string,
  programOf: (folder: string, port: number) => S3Program,
): Promise<StorageTarget> {
  const { port, keys, pid, close } = await startS3Peer(name, programOf)
  return {
    name,
    port,
    keys,
    cpuUs: () => treeCpuUs(pid),
    processes: () => descendants(pid).length,
    mib: () => treeMib(pid),
    quiet: async () => undefined,
    close,
  }
}
