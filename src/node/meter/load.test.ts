import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { sleep } from '#base/clock.ts'
import { isAlive, readProcess } from '#cells/process-table.ts'
import { startLoad } from './load.ts'

const never = new AbortController().signal

/** Children of a process that run burn.ts, by pid, with their CPU in ticks; zombies are none. */
function burnersOf(parent: number): Map<number, number> {
  const found = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      const line = readFileSync(`/proc/${name}/cmdline`, 'latin1')
      if (Number(fields[1]) === parent && line.includes('/programs/burn.ts') && fields[0] !== 'Z')
        found.set(Number(name), Number(fields[11]) + Number(fields[12]))
    } catch {
      // It ended between the listing and the reading.
    }
  }
  return found
}

async function until(condition: () => boolean): Promise<void> {
  const signal = AbortSignal.timeout(20_000)
  // To look through all processes takes 5 ms.
  while (!condition()) await sleep(100, signal)
}

test('startLoad() spins in children that use CPU until they are stopped', async () => {
  const load = await startLoad({ permille: 200, processes: 2 }, never)
  // A Node process needs about 5 ticks to start: 20 are of the spinning.
  await until(() => [...burnersOf(process.pid).values()].filter((ticks) => ticks > 20).length === 2)
  await load.stop()
  assert.equal(burnersOf(process.pid).size, 0)
})

test('startLoad() of nothing starts nothing', async () => {
  const load = await startLoad({ permille: 0, processes: 2 }, never)
  assert.equal(burnersOf(process.pid).size, 0)
  await load.stop()
})

test('startLoad() ends its children when the signal is aborted', async () => {
  const abort = new AbortController()
  const load = await startLoad({ permille: 100, processes: 1 }, abort.signal)
  await until(() => burnersOf(process.pid).size === 1)
  abort.abort()
  await until(() => burnersOf(process.pid).size === 0)
  await load.stop()
})

test('a load ends with the process that started it', async () => {
  const script = `
    const { startLoad } = await import(${JSON.stringify(import.meta.resolve('./load.ts'))})
    await startLoad({ permille: 100, processes: 1 }, new AbortController().signal)
    console.log('loaded')
    setInterval(() => {}, 1000)`
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(createInterface({ input: parent.stdout }), 'line')
  await until(() => burnersOf(parent.pid ?? 0).size === 1)
  const [pid = 0] = burnersOf(parent.pid ?? 0).keys()
  parent.kill('SIGKILL')
  // The test runner may leave the process as a zombie.
  await until(() => {
    const entry = readProcess(pid)
    return entry === undefined || !isAlive(entry)
  })
})
