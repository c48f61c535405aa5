// The energy headers that every response carries, and their forms.
export const ENERGY_HEADERS = [
  'x-energy-joules',
  'x-carbon-mg',
  'x-routed-to',
  'x-tier',
  'x-receipt-id',
] as const

/** The faults in the energy headers of a response; empty when there is none. */
export function energyHeaderFaults(headers: Readonly<Record<string, string | null | undefined>>) {
  const decimal = /^(0|[1-9]\d*)(\.\d*[1-9])?$/
  const forms: Record<(typeof ENERGY_HEADERS)[number], RegExp> = {
    'x-energy-joules': decimal,
    'x-carbon-mg': decimal,
    'x-routed-to': /^[a-z0-9._-]+\/[a-z0-9._-]+\/[a-z0-9._-]+$/,
    'x-tier': /^L[0-3]$/,
    'x-receipt-id': /^rcpt_[0-9a-hjkmnp-tv-z]{26}$/,
  }
  return ENERGY_HEADERS.filter((name) => !forms[name].test(headers[name] ?? '')).map(
    (name) => `${name}: ${headers[name] ?? 'absent'}`,
  )
}
