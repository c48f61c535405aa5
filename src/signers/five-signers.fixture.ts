// Five real signer processes in a temporary folder, for tests; each can be killed and started again.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { getCompileCacheDir } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { sleep } from '#base/clock.ts'
import { present } from '#base/errors.ts'
import { SIGNERS } from './wire.ts'

export type FiveSigners = {
  readonly folder: string
  readonly sockets: readonly string[]
  /** Starts those that do not run; resolves when they listen. */
  start(...indices: number[]): Promise<void>
  /** SIGKILL, as a crash would. */
  kill(...indices: number[]): Promise<void>
  /** Closes fd 3, as the death of the parent would, or sends SIGTERM; gives the exit code. */
  end(index: number, how: 'parent gone' | 'SIGTERM'): Promise<number | null>
  pid(index: number): number
  folderOf(index: number): string
  stop(): Promise<void>
}

const PROGRAM = fileURLToPath(import.meta.resolve('./programs/signer.ts'))
const START_TIMEOUT_MS = 60_000

export function fiveSigners(flags: readonly string[] = []): FiveSigners {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-signers-'))
  const sockets = Array.from({ length: SIGNERS }, (_, nth) => join(folder, `s${nth + 1}.sock`))
  const running = new Map<number, ChildProcess>()
  const folderOf = (index: number) => join(folder, String(index))
  async function kill(index: number): Promise<void> {
    const child = running.get(index)
    if (child === undefined) return
    running.delete(index)
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  return {
    folder,
    sockets,
    folderOf,
    pid: (index) => present(running.get(index)?.pid, 'a signer that does not run'),
    async start(...indices) {
      const wanted = indices.length > 0 ? indices : sockets.map((_, nth) => nth + 1)
      await Promise.all(
        wanted.map(async (index) => {
          if (running.has(index)) return
          const socket = present(sockets[index - 1], 'no such signer')
          const child = spawn(process.execPath, [...flags, PROGRAM], {
            // As in the product: without it the type stripper alone takes 10 MB.
            env: { NODE_COMPILE_CACHE: compiledBelow(folder) },
            stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
          })
          running.set(index, child)
          const config = child.stdio[3] as Writable
          config.on('error', () => undefined)
          config.write(`${JSON.stringify({ index, folder: folderOf(index), socket })}\n`)
          await answers(socket, child)
        }),
      )
    },
    async kill(...indices) {
      await Promise.all(indices.map(kill))
    },
    async end(index, how) {
      const child = present(running.get(index), 'a signer that does not run')
      running.delete(index)
      const exit = once(child, 'exit')
      if (how === 'SIGTERM') child.kill(how)
      else (child.stdio[3] as Writable).end()
      const [code] = await exit
      return code as number | null
    },
    async stop() {
      await Promise.all([...running.keys()].map(kill))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function answers(socket: string, child: ChildProcess): Promise<void> {
  const deadline = AbortSignal.timeout(START_TIMEOUT_MS)
  for (;;) {
    const connected = await new Promise<boolean>((resolve) => {
      const probe = connect(socket)
      probe.once('error', () => resolve(false))
      probe.once('connect', () => {
        probe.destroy()
        resolve(true)
      })
    })
    if (connected || child.exitCode !== null) return
    await sleep(20, deadline)
  }
}

/** That of this test run, where there is one: Node's own folder is below it. */
function compiledBelow(folder: string): string {
  const own = getCompileCacheDir()
  return own === undefined ? join(folder, 'cache') : dirname(own)
}
