// The cost of an answer, from its headers or its last chunk.
import { howOf, type Figure, type How } from '#console/figures/known.ts'

export type Cost = {
  readonly figure: Figure
  readonly pg: bigint
  readonly receiptId: string
}

/** 0.358035898 → 358035898n: so many digits after the point count. */
export function scaled(text: string, digits: number): bigint {
  const [whole = '0', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.slice(0, digits).padEnd(digits, '0'))
}

/** `model; band=40%` */
function knownOf(header: string | null): How {
  const [method = '', band = ''] = (header ?? '').split(';')
  return howOf({ method: method.trim(), band_pct: /band=(\d+)%/.exec(band)?.[1] })
}

/** Undefined where the headers do not tell: of a stream they come after it. */
export function costOf(headers: Headers): Cost | undefined {
  const joules = headers.get('x-energy-joules')
  const receiptId = headers.get('x-receipt-id')
  if (joules === null || receiptId === null) return undefined
  return {
    figure: { nj: scaled(joules, 9), ...knownOf(headers.get('x-energy-method')) },
    pg: scaled(headers.get('x-carbon-mg') ?? '0', 9),
    receiptId,
  }
}
