// Measures the time from `npm start` to the ready line, as somebody at a terminal waits for it: on an empty data
// folder, then again on the same one.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pidsOf } from './product.ts'
import type { Section } from './report.ts'
import { freePort } from './targets.ts'

const ROOT = join(import.meta.dirname, '..')
const STARTS = ['first (empty data folder)', 'second', 'third'] as const
const READY_MAX_MS = 300_000

export async function runStart(): Promise<Section> {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-bench-'))
  const port = await freePort()
  const rows: [string, number][] = []
  try {
    for (const name of STARTS) rows.push([name, await startOnce(folder, port)])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return {
    name: 'start',
    title: 'Start',
    bars: [],
    tables: [
      {
        caption: 'From `npm start` to the ready line',
        columns: ['start', 'seconds'],
        rows: rows.map(([name, ms]) => [name, (ms / 1000).toFixed(1)]),
      },
    ],
    notes: [
      'node_modules is installed. The first start assembles PostgreSQL and pgvector, makes the cluster and migrates; models and signers come after the ready line and are not waited for.',
    ],
  }
}

async function startOnce(folder: string, port: number): Promise<number> {
  const flags = ['--data', folder, '--port', String(port), '--pg-port', String(port + 5), '--json']
  const startedMs = performance.now()
  const child = spawn('npm', ['start', '--silent', '--', ...flags], {
    cwd: ROOT,
    env: { ...process.env, ERGON_MODELS: 'none' },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: READY_MAX_MS,
  })
  try {
    for await (const line of createInterface({ input: child.stdout }))
      if (line.startsWith('{"ready":true')) return performance.now() - startedMs
    throw new Error('Ergon did not get ready')
  } finally {
    const ended = once(child, 'exit')
    // npm does not always forward a signal: the agent itself gets SIGTERM.
    for (const pid of pidsOf(child.pid ?? 0, 'main')) process.kill(pid, 'SIGTERM')
    child.stdout.resume()
    await ended
  }
}
