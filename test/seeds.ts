// Which seeds a simulation runs. ERGON_SEEDS=1-2500 names a range, so that the long form can be run in parts: a file has
// an hour. ERGON_SEED=7 names a single one, as a failure prints it.
const LONG_SEEDS = 10_000

export type Seeds = {
  readonly first: number
  readonly count: number
  /** True where the environment names a single seed, to look at a failure. */
  readonly isOne: boolean
}

/** The seeds of the environment, or from 1 to `usual`; to 10,000 with ERGON_LONG=1. Throws TypeError for other words. */
export function chosenSeeds(usual: number, env: NodeJS.ProcessEnv = process.env): Seeds {
  const isLong = env['ERGON_LONG'] === '1'
  const isOne = env['ERGON_SEED'] !== undefined
  const text = env['ERGON_SEED'] ?? env['ERGON_SEEDS'] ?? `1-${isLong ? LONG_SEEDS : usual}`
  const [, from = '', to = from] = /^(\d+)(?:-(\d+))?$/.exec(text) ?? []
  const [first, last] = [Number(from), Number(to)]
  if (from === '' || last < first)
    throw new TypeError(`ERGON_SEEDS is a range of integers such as 1-2500: ${text}`)
  return { first, count: last - first + 1, isOne }
}

/**
 * The seeds of a planted fault: first the one that has turned it red before, and where histories have changed since then,
 * the others from 1 to `most`.
 */
export function plantedSeeds(known: number, most: number): readonly number[] {
  const all = Array.from({ length: most }, (_, nth) => nth + 1)
  return [known, ...all.filter((seed) => seed !== known)]
}
