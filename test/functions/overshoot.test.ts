// Energy budgets of functions: code that uses all it can is ended by its budget, never billed above it, and burns little beyond
// it, also while the control plane is blocked or killed. The long form (ERGON_LONG=1) has a storm of processes and a large budget
// too, and repeats each 20 times (ERGON_ROUNDS); it needs a machine that does nothing else. ERGON_KINDS has parts of the names
// of those that run, as in "killed,ten kilojoules".
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { calibrationText } from '#metering/calibration.ts'
import { CALIBRATION_FILE, readCpuInfo } from '#node/meter/model.ts'
import { startErgon, type Ergon } from '../start-ergon.ts'
import { functionClient } from './function-client.ts'

const LONG = process.env['ERGON_LONG'] === '1'
const ROUNDS = Number(process.env['ERGON_ROUNDS'] ?? (LONG ? 20 : 1))
const KINDS = process.env['ERGON_KINDS']?.split(',') ?? ['']
const isWanted = (kind: string): boolean => KINDS.some((part) => kind.includes(part))
/** The least that a budget may be: a second or two of one processor. */
const BUDGET_J = 10
const NJ_PER_J = 1_000_000_000
/** Beyond a budget the machine may spend so much, or a thousandth of it, which is the operator's. */
const LOSS_MAX_J = 1
const SETTLED_MAX_MS = LONG ? 600_000 : 60_000
/** Uses up 10 J of a machine that others use too. */
const TIMEOUT_S = 60
const LARGE = { budgetJ: 10_000, wattsPerCpu: 200, timeoutS: 900 }

let ergon: Ergon
before(async () => {
  ergon = await startErgon({ models: 'none' })
})
/** The runs of each kind so far. */
const runs = new Map<string, Joules[]>()
after(async () => {
  await ergon?.stop()
  for (const [kind, all] of runs) {
    const most = (figure: keyof Joules) => Math.max(...all.map((one) => one[figure]))
    console.log(
      `${kind}: ${all.length} runs, burnt ${most('burnt')} J, billed ${most('billed')} J at most`,
    )
  }
})
const { api, deploy, textAt } = functionClient(() => ergon)

const LOOP = 'for (;;);'
const BURNERS: Readonly<Record<string, string>> = {
  'two threads': `import { Worker } from 'node:worker_threads'
    export default () => { new Worker('${LOOP}', { eval: true }); ${LOOP} }`,
  ...(LONG && {
    'a fork storm': `import { spawn } from 'node:child_process'
    export default () => {
      for (let nth = 0; nth < 12; nth++)
        spawn('/bin/sh', ['-c', 'while :; do (:) & wait; done'], { detached: true, stdio: 'ignore' }).unref()
      return new Promise(() => {})
    }`,
  }),
}

type Joules = { readonly burnt: number; readonly billed: number }

/** The energy of one function: the shares of its cells in the windows, and its charges. */
async function joules(id: string): Promise<Joules> {
  const [row] = await ergon.sql<{ burnt: string; billed: string }>(
    `select (select coalesce(sum((s ->> 'dynamic_nj')::numeric + (s ->> 'idle_nj')::numeric), 0)
        from windows, jsonb_array_elements(convert_from(bytes, 'UTF8')::jsonb -> 'shares') s
        where s ->> 'name' like $1)::text as burnt,
      (select coalesce(sum(energy_nj), 0) from charges where resource = $2)::text as billed`,
    [`${id.replace('_', '-')}%`, id],
  )
  return { burnt: Number(row?.burnt) / NJ_PER_J, billed: Number(row?.billed) / NJ_PER_J }
}

/** When neither figure has changed for longer than a window. */
async function settled(id: string): Promise<Joules> {
  const lastMs = performance.now() + SETTLED_MAX_MS
  for (let before = ''; ;) {
    await pause(2500)
    const now = await joules(id)
    if (JSON.stringify(now) === before && now.billed > 0) return now
    assert.ok(performance.now() < lastMs, JSON.stringify(now))
    before = JSON.stringify(now)
  }
}

async function burn(
  t: TestContext,
  { kind, name, source, disturb, budgetJ = BUDGET_J, timeoutS = TIMEOUT_S }: Burning,
): Promise<void> {
  const more = { energy_budget: `${budgetJ} J/day`, timeout_s: timeoutS }
  const { id } = await deploy(name, source, more)
  const answer = textAt(`/${name}`).catch(() => undefined)
  await disturb?.(name)
  await answer
  const { burnt, billed } = await settled(id)
  // An account has 50 functions at most, and the long form runs more.
  assert.equal((await api('DELETE', `/${name}`)).status, 200)
  runs.set(kind, [...(runs.get(kind) ?? []), { burnt, billed }])
  t.diagnostic(`billed ${billed} J, burnt ${burnt} J of ${budgetJ} J`)
  assert.ok(billed <= budgetJ, `${billed} J billed`)
  assert.ok(burnt <= budgetJ + Math.max(LOSS_MAX_J, budgetJ / 1000), `${burnt} J burnt`)
  assert.ok(burnt > budgetJ / 2, `only ${burnt} J burnt`)
}

type Burning = {
  readonly kind: string
  readonly name: string
  readonly source: string
  readonly disturb?: Disturbance
  readonly budgetJ?: number
  readonly timeoutS?: number
}

type Disturbance = (name: string) => Promise<unknown>

const DISTURBANCES: Readonly<Record<string, Disturbance>> = {
  'an idle control plane': async () => undefined,
  ...(LONG && {
    async 'a blocked control plane'() {
      await pause(300)
      const pid = await ergon.pidOf('postgres')
      process.kill(pid, 'SIGSTOP')
      await pause(3000)
      process.kill(pid, 'SIGCONT')
    },
    async 'a killed control plane'(name) {
      await pause(1000)
      await ergon.kill()
      await ergon.resume()
      // It goes on with what the first life has left of the budget.
      return await textAt(`/${name}`)
    },
  }),
}

// All kinds in each round: a run that is cut off has seen all of them.
for (let round = 1; round <= ROUNDS; round++)
  for (const [disturbed, disturb] of Object.entries(DISTURBANCES))
    for (const [nth, [burner, source]] of Object.entries(BURNERS).entries()) {
      const kind = `${burner} beside ${disturbed}`
      const skip = !isWanted(kind) && 'another kind is asked for'
      test(`${kind} stays in its budget (${round})`, { skip }, async (t) => {
        const name = `burner-${nth}-${round}-${disturbed.split(' ')[1]}`
        await burn(t, { kind, name, source, disturb })
      })
    }

const LARGE_KIND = 'two threads in ten kilojoules'
const skipLarge = !(LONG && isWanted(LARGE_KIND)) && 'the long form'
test(`${LARGE_KIND} stay in them`, { skip: skipLarge }, async (t) => {
  const { wattsPerCpu, budgetJ, timeoutS } = LARGE
  const cpu = readCpuInfo()
  const milliwatts = BigInt(cpu.cpus * wattsPerCpu * 1000)
  // As the operator of such a machine has it.
  const calibration = calibrationText({
    cpu,
    reference: 'test',
    measuredAt: '2026-01-01T00:00:00Z',
    curve: [
      { permille: 0, milliwatts: 10_000n },
      { permille: 1000, milliwatts },
    ],
    bandPct: 10,
  })
  await ergon.kill()
  writeFileSync(join(ergon.dataFolder, CALIBRATION_FILE), calibration)
  await ergon.resume()
  const source = BURNERS['two threads'] ?? ''
  await burn(t, { kind: LARGE_KIND, name: 'large', source, budgetJ, timeoutS })
})
