// The cost of all answers of one command, summed from their headers in nanojoules.
import { add, nj, NJ_PER_J, printJoules, type Nj } from '#base/units.ts'

export type Cost = {
  readonly answers: number
  readonly energy_j: number
  /** Answers of more than 1 MiB carry a ceiling of their cost: then the sum is a ceiling too. */
  readonly energy_estimate: 'ceiling' | null
}

type Headers = Readonly<Record<string, string>>

export type Tally = {
  /** Counts one answer; names of headers are in lower case. */
  readonly count: (headers: Headers) => void
  readonly cost: () => Cost
}

const JOULES = /^(\d+)(?:\.(\d{1,9}))?$/

export function createTally(): Tally {
  let answers = 0
  let energy: Nj = nj(0n)
  let isCeiling = false
  return {
    count: (headers) => {
      answers++
      energy = add(energy, energyOf(headers['x-energy-joules'] ?? ''))
      if (headers['x-energy-estimate'] !== undefined) isCeiling = true
    },
    cost: () => ({
      answers,
      energy_j: Number(printJoules(energy)),
      energy_estimate: isCeiling ? 'ceiling' : null,
    }),
  }
}

/** Text as printJoules makes it; 0 for a text that is no figure (a proxy's own answer). */
function energyOf(text: string): Nj {
  const [, whole = '0', fraction = ''] = JOULES.exec(text) ?? []
  return nj(BigInt(whole) * NJ_PER_J + BigInt(fraction.padEnd(9, '0')))
}

/** As a person reads it. */
export const costText = ({ energy_j: joules, energy_estimate: estimate }: Cost): string =>
  `${estimate === null ? '' : 'at most '}${joules} J`
