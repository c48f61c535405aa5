// Each program of the product loads the packages of its row and no other: a new import that doubles the memory of a
// program is seen here. A package that a program needs now and then is behind `await import()`.
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { test } from 'node:test'
import { PROGRAMS } from '#processes/programs.ts'
import { loadsOf } from './loads.ts'

const LOADS: Readonly<Record<string, readonly string[]>> = {
  // Finds the bundle of the agent.
  'main.ts': [],
  // The agent. No undici, no HTTP/2, no pools of workers, no prom-client until metrics are asked for.
  'processes/run-agent.ts': [
    '@node-rs/crc32',
    'lru-cache',
    'node:https',
    'node:worker_threads',
    'pg',
    'yauzl',
    'zod',
  ],
  'processes/gateway.ts': [
    '@datadog/sketches-js',
    '@fastify/busboy',
    '@node-rs/crc32',
    'eventsource-parser',
    'find-my-way',
    'hash-wasm',
    'lru-cache',
    'node:worker_threads',
    'pg',
    'zod',
  ],
  'processes/tasks.ts': ['@node-rs/crc32', 'graphile-worker', 'lru-cache', 'pg'],
  'databases/programs/backups.ts': ['@node-rs/crc32', 'pg'],
  'databases/programs/backup-job.ts': ['@node-rs/crc32', 'pg'],
  'databases/programs/pg-proxy.ts': ['lru-cache', 'node:tls', 'pg'],
  'egress-proxy/programs/egress-proxy.ts': [],
  'ingress/programs/ingress.ts': ['node:tls', 'pg'],
  'status/programs/status-page.ts': ['pg'],
  'webhooks/programs/webhooks.ts': ['lru-cache', 'node:tls', 'pg'],
  'workloads/programs/pull-image.ts': ['node:http', 'node:tls', 'tar-stream', 'zod'],
  'compliance/programs/packs.ts': ['@node-rs/crc32', 'lru-cache', 'pg', 'yazl'],
  'payments/programs/test-processor.ts': ['pg'],
  'receipts/programs/jobs.ts': ['libsodium-wrappers-sumo', 'pg'],
  'signers/programs/signer.ts': ['libsodium-wrappers-sumo'],
  'inference/programs/model.ts': ['node-llama-cpp'],
  'inference/programs/assemble.ts': ['yauzl'],
  'node/programs/burn.ts': [],
  'node/programs/compile.ts': ['esbuild'],
  // The command line: no zod, though its calls are typed by schemas.
  'cli/program.ts': ['commander'],
}

const read = (path: string) => readFileSync(path, 'utf8')

/** Programs whose packages are not those of their row. */
const differing = (from = read): string[] =>
  Object.entries(LOADS).flatMap(([file, allowed]) => {
    const loads = loadsOf(`src/${file}`, from)
    const same = loads.join() === allowed.toSorted().join()
    return same ? [] : [`${file} loads ${loads.join(', ')}`]
  })

test('every program loads the packages of its row', () => {
  assert.deepEqual(differing(), [])
})

test('every program has a row', () => {
  const kept = readdirSync('src', { recursive: true, encoding: 'utf8' })
  const files = kept.filter((name) => /\/programs\/[^/]+\.ts$/.test(name) && !/test/.test(name))
  for (const file of [...files, ...PROGRAMS.map((program) => program.file)])
    assert.ok(LOADS[file], file)
})

test('an import deep below a program is found', () => {
  const planted = "import { Agent } from 'undici'\nimport type { z } from 'zod'\n"
  const found = differing((path) =>
    path === 'src/base/parent.ts' ? `${planted}${read(path)}` : read(path),
  )
  assert.ok(found.includes('signers/programs/signer.ts loads libsodium-wrappers-sumo, undici'))
  assert.ok(
    found.some((line) => line.startsWith('processes/tasks.ts loads') && /undici/.test(line)),
  )
})

test('an import of a heavy module of Node is found, and of types none', () => {
  const text =
    "import type { Server } from 'node:http'\nimport {\n  connect,\n} from 'node:http2'\n"
  assert.deepEqual(
    loadsOf('a.ts', () => text),
    ['node:http2'],
  )
})
