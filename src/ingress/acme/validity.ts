// When a certificate is to be ordered again.
import { X509Certificate } from 'node:crypto'

export type Validity = { readonly fromMs: number; readonly toMs: number }

/** Throws for a text that is no certificate. */
export function validityOf(cert: string): Validity {
  const { validFromDate, validToDate } = new X509Certificate(cert)
  return { fromMs: validFromDate.getTime(), toMs: validToDate.getTime() }
}

/** Two thirds of its life have passed (the advice of Let's Encrypt: a third is left for failures). */
export const isDue = ({ fromMs, toMs }: Validity, nowMs: number): boolean =>
  nowMs >= fromMs + ((toMs - fromMs) * 2) / 3

/** Authorities date certificates back by an hour, so a new one is valid, and not due for long. */
export const fitsClock = (life: Validity, nowMs: number): boolean =>
  nowMs >= life.fromMs && !isDue(life, nowMs)
