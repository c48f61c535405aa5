// kill -9 of the agent at any moment leaves nothing, and the next start removes the rests of a broken launcher. The
// search for survivors must find them when the launcher is broken on purpose.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { sleep } from '#base/clock.ts'
import { createCells } from './create-cells.ts'
import { signalProcess } from './stop.ts'
import type { AgentOptions } from './testing/agent.ts'
import { eventually, place, survivors } from './testing/harness.ts'
import { makeImageRoot } from './testing/image-root.ts'
import { userWithGroup } from './testing/run-once.ts'

const AGENT = fileURLToPath(new URL('testing/agent.ts', import.meta.url))
const LIMIT_MS = 60_000
const ROOT = { skip: process.getuid?.() === 0 ? false : 'needs root' }

type Where = ReturnType<typeof newPlace>

function newPlace(t: TestContext, more: Parameters<typeof place>[0] = {}) {
  const where = place(more)
  mkdirSync(join(where.root, 'app'))
  t.after(async () => {
    for (const pid of survivors(where.root)) signalProcess(pid, 'SIGKILL')
    // Takes away the groups of an agent that was killed.
    const cells = await createCells({ ...where, appFolder: '/usr/share' })
    await cells.close()
    rmSync(where.root, { recursive: true })
  })
  return where
}

function startAgent({ root, uidRange }: Where, more: Partial<AgentOptions>): ChildProcess {
  const options = { root, uidRange, ...more }
  return spawn(process.execPath, [AGENT, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/** Starts an agent, waits until its cells run, kills it. Says how many processes its cell had. */
async function runAndKill(where: Where, more: Partial<AgentOptions>): Promise<number> {
  const agent = startAgent(where, more)
  assert.ok(agent.stdout)
  await once(agent.stdout, 'data', { signal: AbortSignal.timeout(LIMIT_MS) })
  const before = survivors(where.root).filter((pid) => pid !== agent.pid).length
  agent.kill('SIGKILL')
  await once(agent, 'exit')
  return before
}

const leavesNothing = (where: Where) =>
  eventually(() => survivors(where.root).length === 0, { limitMs: 60_000 })

test('kill -9 of the agent ends cells and their grandchildren', ROOT, async (t) => {
  for (const meter of ['cgroup-v2', 'process-tree'] as const) {
    const where = newPlace(t)
    assert.ok((await runAndKill(where, { level: 'root', meter })) >= 3)
    assert.ok(await leavesNothing(where), meter)
  }
})

test('kill -9 of the agent ends cells of user namespaces', ROOT, async (t) => {
  const where = newPlace(t)
  chmodSync(where.root, 0o777)
  const options = JSON.stringify({ root: where.root, level: 'userns' })
  const become = ['--reuid=65534', '--regid=65534', '--clear-groups']
  const agent = spawn('setpriv', [...become, process.execPath, AGENT, options], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = await Promise.race([once(agent.stdout, 'data'), once(agent.stderr, 'data')])
  if (String(said[0]).includes('Cannot isolate'))
    return t.skip('user namespaces are forbidden here')
  assert.equal(String(said[0]), 'ready\n')
  assert.ok(survivors(where.root).length >= 4)
  agent.kill('SIGKILL')
  await once(agent, 'exit')
  assert.ok(await leavesNothing(where))
})

test(
  'kill -9 of the agent ends the cells of tenants, and images, at the levels root and userns',
  ROOT,
  async (t) => {
    const image = mkdtempSync(join(tmpdir(), 'image-'))
    t.after(() => rmSync(image, { recursive: true }))
    chmodSync(image, 0o755)
    makeImageRoot(image, ['/bin/sh', '/bin/sleep', '/usr/bin/setsid'], {})
    for (const tenant of [{}, { image }])
      for (const level of ['root', 'userns'] as const) {
        const where = newPlace(t)
        chmodSync(where.root, 0o777)
        await using user = userWithGroup()
        const program = [
          process.execPath,
          AGENT,
          JSON.stringify({ root: where.root, level, tenant }),
        ]
        const [file = '', ...args] = [...(level === 'root' ? [] : user.become), ...program]
        const agent = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] })
        await once(agent.stdout, 'data', { signal: AbortSignal.timeout(LIMIT_MS) })
        assert.ok(await eventually(() => survivors(where.root).length >= 4))
        agent.kill('SIGKILL')
        await once(agent, 'exit')
        assert.ok(await leavesNothing(where), level)
      }
  },
)

test(
  'kill -9 of the agent in the middle of the start of a tenant leaves nothing',
  ROOT,
  async (t) => {
    const where = newPlace(t)
    for (const dieAfterMs of [0, 3, 6, 10, 14, 18, 25, 40]) {
      const agent = startAgent(where, { level: 'root', tenant: {}, dieAfterMs })
      await once(agent, 'exit')
      assert.ok(await leavesNothing(where), `${dieAfterMs} ms after the start`)
    }
  },
)

test('kill -9 of the agent in the middle of a start leaves nothing', ROOT, async (t) => {
  const moments = [0, 1, 2, 3, 5, 8, 12, 18, 25, 40]
  // In one place, as an agent would be started again.
  const where = newPlace(t)
  for (const dieAfterMs of moments) {
    const agent = startAgent(where, { level: 'root', dieAfterMs })
    const [, signal] = (await once(agent, 'exit')) as [number, string]
    assert.equal(signal, 'SIGKILL')
    assert.ok(await leavesNothing(where), `${dieAfterMs} ms after the start`)
  }
})

test('kill -9 of the agent before a signal of death is armed leaves nothing', ROOT, async (t) => {
  for (const level of ['root', 'plain'] as const) {
    const where = newPlace(t)
    const setpriv = join(where.root, 'setpriv')
    const late = `${where.root}-late`
    // The time between a change of uid and the arming, a few microseconds, is made longer.
    writeFileSync(setpriv, lateSetpriv(late))
    chmodSync(setpriv, 0o755)
    const agent = startAgent(where, { level, tools: { setpriv } })
    assert.ok(await eventually(() => survivors(late).length > 0), 'not killed while it starts')
    agent.kill('SIGKILL')
    await once(agent, 'exit')
    assert.ok(await leavesNothing(where), level)
  }
})

/** The mark is in the arguments until the signal is being armed. */
const lateSetpriv = (mark: string) => `#!/bin/sh
case "$*" in *--reuid*--pdeathsig*) ;; *) exec /usr/bin/setpriv "$@" ;; esac
flags=
while [ "$1" != -- ]; do
  if [ "$1" = --pdeathsig ]; then shift 2; else flags="$flags $1"; shift; fi
done
exec /usr/bin/setpriv $flags -- /bin/sh -c \
  'shift; sleep 2; exec /usr/bin/setpriv --pdeathsig KILL -- "$@"' ${mark} "$@"
`

/** Stands for a launcher that forgets the signals of death. */
function forgetful(root: string): NonNullable<AgentOptions['tools']> {
  const strip = (name: string, ...flags: string[]) => {
    const path = join(root, name)
    const cases = flags.map((flag) => `${flag}) ;;`).join(' ')
    const loop = `for word; do shift; case "$word" in ${cases} *) set -- "$@" "$word" ;; esac; done`
    writeFileSync(path, `#!/bin/sh\n${loop}\nexec /usr/bin/${name} "$@"\n`)
    chmodSync(path, 0o755)
    return path
  }
  return {
    setpriv: strip('setpriv', '--pdeathsig', 'KILL'),
    unshare: strip('unshare', '--kill-child=KILL'),
  }
}

test('planted fault: without the signals of death orphans stay, and are found', ROOT, async (t) => {
  const where = newPlace(t)
  await runAndKill(where, { level: 'root', tools: forgetful(where.root) })
  assert.ok(!(await eventually(() => survivors(where.root).length < 3, { limitMs: 300 })))
})

for (const level of ['root', 'plain'] as const)
  for (const meter of ['cgroup-v2', 'process-tree'] as const)
    test(`a start ends what a broken ${level} launcher left (${meter})`, ROOT, async (t) => {
      const where = newPlace(t, { level, meter, appFolder: '/usr/share' })
      await runAndKill(where, { level, meter, tools: forgetful(where.root) })
      // A scan misses a process that is just being replaced by its program.
      assert.ok(await eventually(() => survivors(where.root).length >= 3), 'three are left')
      const cells = await createCells(where)
      assert.deepEqual(survivors(where.root), [])
      assert.ok(!existsSync(join(where.runFolder, 'deaf')))
      await cells.close()
    })

test(
  'planted fault: a start with another data folder leaves what is not its own',
  ROOT,
  async (t) => {
    const where = newPlace(t)
    const other = newPlace(t, { appFolder: '/usr/share' })
    await runAndKill(where, { level: 'root', tools: forgetful(where.root) })
    // Processes that were already ending when their parent was killed are waited for first.
    const left = await settled(() => survivors(where.root))
    assert.ok(left.length >= 3, `${left.length} are left`)
    const cells = await createCells(other)
    assert.deepEqual(survivors(where.root), left)
    await cells.close()
  },
)

/** The result of a scan when two of them, a while apart, agree. */
async function settled(look: () => number[]): Promise<number[]> {
  for (let before = look(); ;) {
    await sleep(200)
    const now = look()
    if (String(now) === String(before)) return now
    before = now
  }
}
