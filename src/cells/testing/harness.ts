// Shared by the tests of this folder: a folder of their own, a spec, requests to an echo cell, and the
// search for survivors, which is the same for sound launchers and for planted faults.
import { randomInt } from 'node:crypto'
import { chmodSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

import { sleep, systemClock } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'

import type { CellSpec } from '#cells/cell.ts'
import type { CellsOptions } from '#cells/create-cells.ts'
import type { EchoRequest } from './echo-cell.ts'

export const APP_FOLDER = resolve(import.meta.dirname, '../../..')
export const ECHO = fileURLToPath(new URL('echo-cell.ts', import.meta.url))

/**
 * Options for createCells in a new temporary folder, whose name marks every process of it. The uids are
 * not those that agents of this machine use: without cgroups a uid tells whom to count and to kill.
 */
export function place(more: Partial<CellsOptions> = {}): CellsOptions & { readonly root: string } {
  const root = mkdtempSync(join(tmpdir(), 'cells-'))
  chmodSync(root, 0o711)
  return {
    root,
    runFolder: join(root, 'run'),
    dataFolder: join(root, 'data'),
    appFolder: APP_FOLDER,
    uidClaims: join(root, 'uids'),
    uidRange: { first: 1_950_000_000 + randomInt(2000) * 65_536, count: 65_536 },
    log: createLogger('cells', { level: 'error' }),
    clock: systemClock,
    ...more,
  }
}

/** An echo cell; `more` replaces what a test is about. */
export function echoSpec(
  where: { readonly runFolder: string; readonly dataFolder: string },
  more: Partial<CellSpec> = {},
): CellSpec {
  const { name = 'echo', socketGroup = 'echoes', socket = 's' } = more
  return {
    name,
    // The folder marks the process.
    argv: [process.execPath, ECHO, where.runFolder],
    environment: {},
    config: { socket: join(where.runFolder, socketGroup, name, socket) },
    reads: [],
    writes: [join(where.dataFolder, 'cells', `data-${name}`)],
    socketGroup,
    calls: [],
    limits: {},
    ready: {
      probe: async (path, signal) => void (await ask(path, { ask: 'info' }, signal)),
      timeoutMs: 20_000,
    },
    socket,
    stop: { signal: 'SIGTERM', graceMs: 5000 },
    restart: { delaysMs: [1, 20], steadyMs: 60_000 },
    payer: { kind: 'operator' },
    ...more,
  }
}

/** Asks an echo cell. */
export function ask<T = unknown>(
  path: string,
  question: EchoRequest,
  signal?: AbortSignal,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    let text = ''
    const abort = () => socket.destroy(signal?.reason as Error)
    signal?.addEventListener('abort', abort, { once: true })
    socket.on('connect', () => socket.write(JSON.stringify(question)))
    socket.on('data', (data) => (text += data.toString('utf8')))
    socket.on('error', reject)
    socket.on('close', () => {
      signal?.removeEventListener('abort', abort)
      if (text === '') reject(new TypeError('No answer'))
      else resolve(JSON.parse(text) as T)
    })
  })
}

/**
 * Waits for something that must come; false after the limit. To look for survivors takes 5 ms of CPU, so
 * it is looked for every 20 ms.
 */
export async function eventually(
  holds: () => boolean,
  { limitMs = 10_000, everyMs = 20 } = {},
): Promise<boolean> {
  for (const until = performance.now() + limitMs; performance.now() < until; await sleep(everyMs))
    if (holds()) return true
  return holds()
}

/** The pids of living processes, but this one, that have the mark in their arguments. */
export function survivors(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        // A zombie has no arguments any more.
        return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(mark)
      } catch {
        return false
      }
    })
    .map(Number)
}
