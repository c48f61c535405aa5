// The first process of a container has to be in the container's control group. One that runs elsewhere is refused. One that
// has ended is not, also while its engine has not yet waited for it.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { test, type TestContext } from 'node:test'
import type { StartedLife } from './cell.ts'
import { createCells } from './create-cells.ts'
import { readProcess } from './process-table.ts'
import { echoSpec, eventually, place } from './testing/harness.ts'

const CANNOT = {
  skip: process.getuid?.() === 0 && process.platform === 'linux' ? false : 'needs root',
}

/** Tells the cell of a process outside of its group; resolves with the refusal, or with undefined. */
async function refusalOf(t: TestContext, pid: number): Promise<unknown> {
  const where = place({ level: 'root' })
  const cells = await createCells(where)
  t.after(async () => {
    await cells.close()
    rmSync(where.root, { recursive: true })
  })
  const told = Promise.withResolvers<unknown>()
  const ended = Promise.withResolvers<Awaited<StartedLife['exit']>>()
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const kill = () => {
    stdout.end()
    stderr.end()
    ended.resolve({ code: 0, signal: null })
  }
  await cells.start(
    echoSpec(where, {
      restart: { delaysMs: [60_000], steadyMs: 60_000 },
      ready: { probe: () => new Promise(() => undefined), timeoutMs: 60_000 },
      container: {
        port: 8080,
        cpuGroups: () => [],
        begin({ began }) {
          // As an engine does: later.
          setImmediate(() => {
            try {
              began(pid)
              told.resolve(undefined)
            } catch (error) {
              told.resolve(error)
            }
            kill()
          })
          return { pid, stdout, stderr, exit: ended.promise, kill }
        },
        remove: async () => undefined,
      },
    }),
  )
  return await told.promise
}

test('a container whose first process is not in its group is refused', CANNOT, async (t) => {
  const child = spawn('/bin/sleep', ['60'])
  t.after(() => child.kill('SIGKILL'))
  assert.match(String(await refusalOf(t, child.pid ?? 0)), /has not put the container into its/)
})

test('a container whose program has ended at once is not refused', CANNOT, async (t) => {
  // Nobody waits for the first process: when that one ends, the shell has become another program.
  const engine = spawn('/bin/sh', ['-c', 'sleep 0.3 & echo $!; exec sleep 60'])
  t.after(() => engine.kill('SIGKILL'))
  const [line] = (await once(engine.stdout, 'data')) as [Buffer]
  const pid = Number(String(line))
  assert.ok(await eventually(() => readProcess(pid)?.state === 'Z'))
  assert.equal(await refusalOf(t, pid), undefined)
})
