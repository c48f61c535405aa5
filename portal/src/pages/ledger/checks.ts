// The four checks of a receipt as sentences: who signed, that it is in the log, that it adds up, that none is hidden.
import type { Checked } from '#console/proof/check-receipt.ts'
import { grouped, NBSP } from '#console/figures/digits.ts'

export type CheckLine = {
  readonly name: 'Signed' | 'In the log' | 'Adds up' | 'Nothing hidden'
  /** `unmade`: a check before it failed. */
  readonly state: 'holds' | 'fails' | 'unmade'
  readonly rest: string
}

const WORDS = ['none', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine']
const inWords = (count: number): string => WORDS[count] ?? String(count)

/** The line of each check of the verifier. */
const LINE_OF: Readonly<Record<string, CheckLine['name']>> = {
  format: 'Signed',
  key: 'Signed',
  signature: 'Signed',
  inclusion: 'In the log',
  charge: 'Adds up',
}

export function checkLines(checked: Checked): readonly CheckLine[] {
  const { verdict } = checked
  const lines: readonly CheckLine[] = [
    { name: 'Signed', state: 'holds', rest: signedBy(checked) },
    { name: 'In the log', state: 'holds', rest: inLog(checked) },
    {
      name: 'Adds up',
      state: 'holds',
      rest: `: every figure recomputed here, in ${Math.max(1, Math.round(verdict.tookMs))}${NBSP}ms`,
    },
    nothingHidden(checked),
  ]
  const why = verdict.refusedKey ?? verdict.failed?.why
  if (why === undefined) return lines
  const failed = LINE_OF[verdict.failed?.check ?? 'key'] ?? 'Signed'
  const at = lines.findIndex(({ name }) => name === failed)
  return lines.map((line, nth) => {
    if (nth < at) return line
    return nth === at
      ? { name: line.name, state: 'fails', rest: `: ${lowered(why)}` }
      : { name: line.name, state: 'unmade', rest: ': not checked' }
  })
}

function signedBy({ signers: { count, threshold, hosts } }: Checked): string {
  const where = hosts === 1 ? 'one host' : `${inWords(hosts)} hosts`
  return ` by ${inWords(threshold)} of ${inWords(count)} signers, on ${where}`
}

function inLog({ verdict: { entry = 0, headSize = 0, steps = 0 } }: Checked): string {
  const size = grouped(BigInt(headSize))
  return `: entry ${grouped(BigInt(entry))} leads to the signed head ${size} in ${steps} steps`
}

function nothingHidden({ verdict: { accountSeq = '0' }, before }: Checked): CheckLine {
  const name = 'Nothing hidden'
  const own = BigInt(accountSeq)
  if (before === 'first') return { name, state: 'holds', rest: ': this is your first charge' }
  const wanted = grouped(own - 1n)
  return before !== undefined && BigInt(before.accountSeq) === own - 1n
    ? { name, state: 'holds', rest: `: your number ${grouped(own)} follows ${wanted}` }
    : { name, state: 'fails', rest: `: your number ${wanted} is missing before ${grouped(own)}` }
}

const lowered = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)
