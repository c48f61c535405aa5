// A load of a given height for a calibration: one child per processor that spins for a part of the time.
// Children, as threads of ours would stop the agent's windows.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Writable } from 'node:stream'
import { invariant } from '#base/errors.ts'
import type { BurnConfig } from '#node/programs/burn.ts'
import { pathOf } from '#node/cell-specs.ts'

// A step of a calibration takes 25 s; a child that is forgotten ends by itself.
const LIFE_MS = 60_000

export type MeterLoad = {
  /** Ends every child; resolves when they are gone. */
  stop(): Promise<void>
}

/** Resolves when the children are started; they end at stop(), at the signal, or after a minute. */
export async function startLoad(
  height: { readonly permille: number; readonly processes: number },
  signal: AbortSignal,
): Promise<MeterLoad> {
  const { permille, processes } = height
  const children = permille === 0 ? [] : Array.from({ length: processes }, () => burn(permille))
  const kill = () => {
    for (const child of children) child.kill('SIGKILL')
  }
  const stop = async () => {
    signal.removeEventListener('abort', kill)
    kill()
    await Promise.all(children.map(ended))
  }
  signal.addEventListener('abort', kill, { once: true })
  try {
    await Promise.all(children.map((child) => once(child, 'spawn')))
  } catch (error) {
    await stop()
    throw error
  }
  return { stop }
}

async function ended(child: ChildProcess): Promise<void> {
  const isGone = child.pid === undefined || child.exitCode !== null || child.signalCode !== null
  if (!isGone) await once(child, 'exit')
}

function burn(permille: number): ChildProcess {
  const child = spawn(process.execPath, [pathOf({ file: 'node/programs/burn.ts' })], {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    env: {},
  })
  const pipe = child.stdio[3]
  invariant(pipe instanceof Writable, 'a child has a pipe for its config')
  // It breaks when the child is killed before it has read.
  pipe.on('error', () => pipe.destroy())
  const config: BurnConfig = { permille, lifeMs: LIFE_MS }
  pipe.write(`${JSON.stringify(config)}\n`)
  return child
}
