// At rest, without models: the proportional set size of each process, and the CPU that they take.
import { setTimeout as pause } from 'node:timers/promises'
import { cpuUs, descendants, programOf, pssMib } from './processes.ts'
import { atRest, startProduct } from './product.ts'
import type { Section } from './report.ts'

const REST_MS = 5000
const SIGNER_MIB_MAX = 50
/** Processes count their CPU in steps of 10 ms. */
const CPU_MS = 60_000
const CPU_PCT_MAX = 2

export async function runMemory(): Promise<Section> {
  const ergon = await startProduct()
  try {
    await atRest(ergon.pid)
    await pause(REST_MS)
    const sizes = new Map<string, number[]>()
    for (const { pid } of descendants(ergon.pid)) {
      const mib = pssMib(pid)
      // A launcher's shell and its like are below one MiB together.
      if (mib === undefined || mib < 1) continue
      const program = programOf(pid)
      sizes.set(program, [...(sizes.get(program) ?? []), mib])
    }
    const shares = await cpuShares(ergon.pid)
    return {
      name: 'memory',
      title: 'Memory and CPU at rest',
      bars: [
        {
          what: 'largest signer, PSS',
          value: Math.max(...(sizes.get('signer') ?? [Number.NaN])),
          most: SIGNER_MIB_MAX,
          digits: 1,
          unit: 'MiB',
        },
        {
          what: 'CPU of the whole product, of one core',
          value: sum([...shares.values()]),
          most: CPU_PCT_MAX,
          digits: 2,
          unit: '%',
        },
      ],
      tables: [
        {
          caption: 'Proportional set size',
          columns: ['program', 'processes', 'largest, MiB', 'together, MiB'],
          rows: [...sizes]
            .toSorted(([, a], [, b]) => sum(b) - sum(a))
            .map(([program, each]) => [
              nameOf(program),
              String(each.length),
              Math.max(...each).toFixed(1),
              sum(each).toFixed(1),
            ]),
        },
        {
          caption: 'CPU',
          columns: ['program', 'of one core, %'],
          rows: [...shares]
            .toSorted(([, a], [, b]) => b - a)
            .map(([program, pct]) => [nameOf(program), pct.toFixed(2)]),
        },
      ],
      notes: [
        'Pages that several processes share (the Node binary, its snapshot) count for each by its share.',
        `CPU over ${CPU_MS / 1000} s, with ticks, windows and upkeep; a machine with other work makes it more, as all of it runs with cold caches.`,
      ],
    }
  } finally {
    await ergon.stop()
  }
}

const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0)
const nameOf = (program: string) => (program === 'main' ? 'agent' : program)

/** The share of each program in one core, in percent. */
async function cpuShares(pid: number): Promise<Map<string, number>> {
  const beganMs = performance.now()
  const before = new Map(descendants(pid).map((one) => [one.pid, cpuUs(one.pid)]))
  await pause(CPU_MS)
  const tookUs = (performance.now() - beganMs) * 1000
  const shares = new Map<string, number>()
  for (const one of descendants(pid)) {
    const usedUs = cpuUs(one.pid) - (before.get(one.pid) ?? 0)
    if (usedUs === 0) continue
    const program = programOf(one.pid)
    shares.set(program, (shares.get(program) ?? 0) + (usedUs * 100) / tookUs)
  }
  return shares
}
