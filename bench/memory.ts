// Memory at rest: the proportional set size of each process of a product without models.
import { setTimeout as pause } from 'node:timers/promises'
import { descendants, programOf, pssMib } from './processes.ts'
import { atRest, startProduct } from './product.ts'
import type { Section } from './report.ts'

const REST_MS = 5000
const SIGNER_MIB_MAX = 50

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
    const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0)
    return {
      name: 'memory',
      title: 'Memory at rest',
      bars: [
        {
          what: 'largest signer, PSS',
          value: Math.max(...(sizes.get('signer') ?? [Number.NaN])),
          most: SIGNER_MIB_MAX,
          digits: 1,
          unit: 'MiB',
        },
      ],
      tables: [
        {
          caption: 'Proportional set size',
          columns: ['program', 'processes', 'largest, MiB', 'together, MiB'],
          rows: [...sizes]
            .toSorted(([, a], [, b]) => sum(b) - sum(a))
            .map(([program, each]) => [
              program === 'main' ? 'agent' : program,
              String(each.length),
              Math.max(...each).toFixed(1),
              sum(each).toFixed(1),
            ]),
        },
      ],
      notes: [
        'Pages that several processes share (the Node binary, its snapshot) count for each by its share.',
      ],
    }
  } finally {
    await ergon.stop()
  }
}
