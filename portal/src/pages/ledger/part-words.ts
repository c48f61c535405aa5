// A part of a charge in words: what used the energy, and how its meter knows.
import type { Charge, ChargePart } from '#contract/ledger/charge.ts'
import { howOf, knownWords } from '#console/figures/known.ts'

const LEARNED = 'learned'
const STORAGE = 'storage'
const GPU = /:gpu$/
const UPSTREAM = /^upstream:(.*)$/s

export function partWords(
  part: ChargePart,
  charge: Pick<Charge, 'cell'>,
): { readonly what: string; readonly how: string } {
  return {
    what: whatOf(part, charge),
    how: `meter ${part.meter}, ${part.method}: ${knownWords(howOf(part))}`,
  }
}

function whatOf({ meter, method, idle }: ChargePart, { cell }: Pick<Charge, 'cell'>): string {
  if (method === LEARNED) return 'Work that it caused in shared processes'
  if (idle === true) return 'Idle power of the memory that it reserves'
  if (GPU.test(meter)) return 'Steps on the GPU'
  if (meter === STORAGE) return 'Stored bytes'
  const server = UPSTREAM.exec(meter)?.[1]
  if (server !== undefined) return `Another server, ${server}`
  return cell === undefined ? 'Processor time on this node' : 'Processor time of its process'
}
